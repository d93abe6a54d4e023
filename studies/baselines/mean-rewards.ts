/** The mean reward of each player without a model: idle, random, oracle. */
import { createRng, openEnv, playTask, type Script, type Scripted } from '@toolenv/core';
import { findPlugin } from '@toolenv/core/plugins';
import { randomPlayers } from './random-players.ts';

export interface MeanRewards {
  tasks: number;
  /** Answers with an empty text. */
  idle: number;
  random: number;
  oracle: number;
}

/** Plays the test tasks of an environment once with each player: 200 of them, or 10 if each episode starts a process or a thread. */
export async function meanRewards(ref: string): Promise<MeanRewards> {
  const most = /^@toolenv\/envs-(code|mcp)\//.test(ref) ? 10 : 200;
  const { plugin } = await findPlugin('envs', ref, { from: import.meta.dirname });
  await using env = await openEnv(ref, {}, { from: import.meta.dirname, seed: 1 });
  const count = Math.min(most, await env.tasks.test.length);
  const mean = async (player: (task: unknown, index: number) => Script | readonly Scripted[]) => {
    let sum = 0;
    for (let index = 0; index < count; index++) {
      const task = await env.tasks.test.get(index);
      const { reward } = await playTask(env, task, player(task, index), { seed: index });
      if (reward === null) throw new Error(`${ref}: test task ${index} was not scored.`);
      sum += reward;
    }
    return sum / count;
  };
  return {
    tasks: count,
    idle: await mean(() => []),
    random: await mean((_, index) => randomPlayers[ref]!(createRng(1, ref, index))),
    oracle: await mean((task) => plugin.oracle!(task)!),
  };
}

/** The row of a table for a README. */
export function tableRow(ref: string, { tasks, idle, random, oracle }: MeanRewards): string {
  const cells = [
    `\`${ref.split('/').at(-1)}\``,
    tasks,
    ...[idle, random, oracle].map((mean) => mean.toFixed(3)),
  ];
  return `| ${cells.join(' | ')} |`;
}
