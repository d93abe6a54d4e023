/** EnvironmentFacts: by what a reader chooses an environment. */
import { openEnv, playTask } from '@toolenv/core';
import { findPlugin } from '@toolenv/core/plugins';
import type { Environment } from './environments.ts';

export interface EnvironmentFacts {
  /** Names of the tools; empty if the policy only writes. */
  tools: readonly string[];
  /** Least and most turns of the oracle. */
  turns?: readonly [least: number, most: number];
  /** Where its tasks come from. */
  tasks: 'made by a generator' | 'a file' | 'a server' | 'containers';
}

/** Test tasks that the oracle plays. */
const played = 8;
/** Names of tools that a row of the table has room for. */
const mostTools = 4;

export async function factsOf(
  { ref, options, isRemote, task, flags = '' }: Environment,
  from: string,
): Promise<EnvironmentFacts> {
  if (isRemote) return { tools: [], tasks: 'a server' };
  if (task !== undefined) return { tools: ['bash'], tasks: 'containers' };
  const { plugin } = await findPlugin('envs', ref, { from });
  await using env = await openEnv(ref, await options, { from, seed: 1 });
  const count = Math.min(played, await env.tasks.test.length);
  const turns: number[] = [];
  const tools = new Set<string>();
  for (let index = 0; index < count; index++) {
    const given = await env.tasks.test.get(index);
    const { steps } = await playTask(env, given, plugin.oracle!(given)!, { seed: 1 });
    turns.push(steps.length);
    for (const { observation } of steps) for (const { name } of observation.tools) tools.add(name);
  }
  return {
    tools: [...tools].sort(),
    turns: [Math.min(...turns), Math.max(...turns)],
    tasks: flags.includes('--path') ? 'a file' : 'made by a generator',
  };
}

/** A row of the table in Markdown. @param trained The models of published trainings. */
export function factsRow(
  name: string,
  { tools, turns, tasks }: EnvironmentFacts,
  trained: readonly string[],
): string {
  const named =
    tools.length > mostTools ? `${tools.length} tools` : tools.map((tool) => `\`${tool}\``).join(', ');
  const [least, most] = turns ?? [];
  const range = least === undefined ? '–' : least === most ? `${least}` : `${least} to ${most}`;
  const cells = [
    `[${name}](#${name})`,
    tasks === 'a server' ? "the server's" : named || 'none',
    range,
    tasks,
    trained.join(', ') || '–',
  ];
  return `| ${cells.join(' | ')} |`;
}
