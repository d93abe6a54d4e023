/** Serves a policy for a test, and asks it. */
import type { Action, Observation, Policy, SamplingOptions } from '@toolenv/core';
import { onTestFinished } from 'vitest';
import { type ServePolicyOptions, servePolicy } from '../../src/index.ts';

/** What an answer holds: each test knows. */
export type Json = ReturnType<typeof JSON.parse>;

/** What a policy was asked. */
export interface Asked {
  observation: Observation;
  options: SamplingOptions;
}

/** A policy of a function, and what it was asked. */
export function asking(
  act: (asked: Asked) => Action | string | Promise<Action | string>,
): Policy & { asked: Asked[]; ended: string[] } {
  const [asked, ended]: [Asked[], string[]] = [[], []];
  return {
    ...{ asked, ended },
    spec: { name: 'asking', contextLength: 1_000 },
    async act(observation, options) {
      asked.push({ observation, options });
      const said = await act({ observation, options });
      return typeof said === 'string' ? { text: said, toolCalls: [], stopReason: 'stop' } : said;
    },
    endEpisode: (id) => void ended.push(id),
  };
}

export type Ask = (
  path: string,
  body?: unknown,
  more?: { headers?: Record<string, string>; signal?: AbortSignal },
) => Promise<Response>;

/** The URL of a service that ends with the test, and a function that sends it JSON, or text as it is. */
export async function serving(
  policy: Policy,
  options: ServePolicyOptions = {},
): Promise<{ url: string; ask: Ask }> {
  const service = await servePolicy(policy, options);
  onTestFinished(() => service.close());
  const { url } = service;
  const ask: Ask = (path, body, { headers = {}, signal } = {}) =>
    fetch(url + path, {
      headers: { 'content-type': 'application/json', ...headers },
      ...(body !== undefined && {
        method: 'POST',
        body: typeof body === 'string' ? body : JSON.stringify(body),
      }),
      ...(signal && { signal }),
    });
  return { url, ask };
}

/** The values of a service's metrics, by name and labels. */
export async function metricsOf(ask: Ask): Promise<Record<string, number>> {
  const text = await (await ask('/metrics')).text();
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return Object.fromEntries(
    lines.map((line) => {
      const at = line.lastIndexOf(' ');
      return [line.slice(0, at).replace('toolenv_', ''), Number(line.slice(at + 1))];
    }),
  );
}

/** The data of a stream's events. */
export async function eventsOf(response: Response): Promise<Json[]> {
  const lines = (await response.text()).split('\n').filter((line) => line.startsWith('data: {'));
  return lines.map((line) => JSON.parse(line.slice(6)));
}
