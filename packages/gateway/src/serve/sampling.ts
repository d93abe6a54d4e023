/** samplingOf: what a client may set of the sampling, within the server's defaults and bounds. */
import { randomInt } from 'node:crypto';
import { deriveSeed, type SamplingOptions } from '@toolenv/core';
import { BadRequest, type ModelRequest } from '../wire/model-request.ts';
import type { CompleteServePolicyOptions } from './serve-policy-options.ts';

type Defaults = Pick<
  CompleteServePolicyOptions,
  'maxTokens' | 'temperature' | 'topP' | 'topK' | 'minP' | 'constrainCalls'
>;

/** The names of the largest number of tokens, on each wire. */
const limits = ['max_completion_tokens', 'max_tokens', 'max_output_tokens'];

/** @throws BadRequest for a value out of range. A number of tokens above the server's is lowered to it. */
export function samplingOf(
  { asked, stop }: Pick<ModelRequest, 'asked' | 'stop'>,
  server: Defaults,
): SamplingOptions {
  const read = (name: string, isRight: (value: number) => boolean, expected: string) => {
    const value = asked[name];
    if (value === undefined || isRight(value)) return value;
    throw new BadRequest(name, `${name} is ${value}: give ${expected}.`);
  };
  const most = limits.map((name) => read(name, (value) => isCount(value, 1), 'a whole number from 1 up'));
  const temperature = read('temperature', (value) => value >= 0 && value <= 2, 'a number from 0 to 2');
  const topP = read('top_p', (value) => value > 0 && value <= 1, 'a number above 0, at most 1');
  const minP = read('min_p', (value) => value >= 0 && value <= 1, 'a number from 0 to 1');
  const topK = read('top_k', (value) => isCount(value, -1), 'a whole number; 0 or -1 for all tokens');
  const seed = read('seed', Number.isSafeInteger, 'a whole number');
  const mostLikely = topK === undefined ? server.topK : topK < 1 ? undefined : topK;
  return {
    maxTokens: Math.min(server.maxTokens, ...most.filter((value) => value !== undefined)),
    temperature: temperature ?? server.temperature,
    topP: topP ?? server.topP,
    minP: minP ?? server.minP,
    ...(mostLikely !== undefined && { topK: mostLikely }),
    ...(server.constrainCalls && { constrainCalls: true }),
    ...(stop.length > 0 && { stop }),
    seed: seed === undefined ? randomInt(2 ** 31) : deriveSeed(seed, 'request'),
    // Clients come and go: nothing is gained by waiting for those whose tools run.
    batchDelay: 0,
  };
}

function isCount(value: number, least: number): boolean {
  return Number.isSafeInteger(value) && value >= least;
}
