/** Files of trajectories: read as programs read them, shown as `toolenv show` does, and scored under other rewards. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  defineTool,
  defineToolEnv,
  openEnv,
  playTask,
  type RewardDeclarations,
  type Trajectory,
} from '@toolenv/core';
import { encodeTrajectory, readTrajectories } from '@toolenv/core/recording';
import { rescore } from '@toolenv/training';
import { runProgram } from '../../../packages/cli/src/program.ts';
import { mutateBytes, mutateJson } from './mutate.ts';
import { type Subject, withoutOutput } from './subject.ts';

const file = 'trajectories.jsonl';
const add = defineTool(
  'add',
  'Adds.',
  { a: { type: 'integer' }, b: { type: 'integer' } },
  ({ a, b }) => `${a + b}`,
);
const sums = defineToolEnv({
  name: 'sums-v1',
  description: 'Sums.',
  tasks: { test: [{ a: 1, b: 2 }] },
  rewards: { right: { kind: 'outcome' } },
  episode: ({ task }) => ({
    messages: `${task.a} + ${task.b}?`,
    tools: [add],
    onAnswer: (answer) => ({ end: 'answered', rewards: { right: Number(answer === '3') } }),
  }),
});
/** A reward function that sees each turn, beside the recorded reward. */
const withBrief = (declared: RewardDeclarations): RewardDeclarations => ({
  ...declared,
  brief: { kind: 'process', score: ({ turn }) => 1 / (1 + turn) },
});
const lines = await makeLines();

export const trajectories: Subject = {
  async damage(rng, folder) {
    const damaged = [...lines];
    const which = rng.int(lines.length);
    const isJson = rng.int(3) > 0;
    if (isJson) damaged[which] = mutateJson(rng, lines[which]!);
    const text = Buffer.from(`${damaged.join('\n')}\n`);
    await writeFile(join(folder, file), isJson ? text : mutateBytes(rng, text));
    return isJson ? `line ${which + 1}` : 'bytes';
  },
  async use(folder) {
    const path = join(folder, file);
    const { signal } = new AbortController();
    // Both are tried: show may refuse what reading accepts.
    await withoutOutput(() => runProgram(['show', path, '--count', '10'], signal));
    for await (const _trajectory of readTrajectories(path));
    await using env = await openEnv(sums, {}, { rewards: withBrief });
    const read = readTrajectories(path) as AsyncIterable<Trajectory<{ a: number; b: number }>>;
    for await (const _rescored of rescore({ env, trajectories: read, deadline: 5_000 }));
  },
};

/** An episode with calls, a mistake, an answer and tokens, three times. */
async function makeLines(): Promise<string[]> {
  const env = await openEnv(sums);
  const call = (args: Record<string, unknown>) => [{ name: 'add', arguments: args }];
  const played: Trajectory = await playTask(env, { a: 1, b: 2 }, [
    call({ a: 1, b: 2 }),
    call({ a: 'one', b: 2 }),
    '3',
  ]);
  for (const { action } of played.steps) {
    action.tokens = {
      prompt: Int32Array.of(1, 2, 3),
      action: Int32Array.of(4, 5),
      logprobs: Float32Array.of(-0.5, -1),
    };
  }
  return [played, played, played].map(encodeTrajectory);
}
