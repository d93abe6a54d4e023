/**
 * `npm run interop -- trl-step`: TRL's GRPOTrainer repeats the turns of the first step here, in the same environment. Its own loop makes the prompts, calls the
 * tools and scores: prompts, masks, tokens and rewards must be those of the rows that trainers learn from here. One difference is known: TRL takes a call that
 * cannot be read for an answer, and here the environment says what is wrong with it.
 */
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { isParseFailure, openEnv, type Trajectory } from '@toolenv/core';
import { loadPolicy } from '@toolenv/policy';
import { grpo } from '@toolenv/trainer-grpo';
import { toTrainingRows, train } from '@toolenv/training';
import { beta, environment, envOptions, training } from '../../demo/setting.ts';
import { scratchFolder } from '../../scratch-folder.ts';
import { check } from '../check.ts';
import { checkpoint } from './side.ts';
import { type TrlRows, trainTheirs } from './theirs.ts';

const seed = 1;

export async function compareStep(python: string): Promise<void> {
  const setting = { ...training, beta };
  await using env = await openEnv(environment, envOptions, { seed });
  await using scratch = await scratchFolder();
  await using policy = await loadPolicy(checkpoint);
  const played: Trajectory[] = [];
  const run = { env, policy, trainer: grpo({ ...setting, steps: 1, checkpointEvery: 0 }), seed };
  for await (const event of train({ ...run, out: join(scratch.path, 'ours'), trajectories: false }))
    if (event.type === 'rollout') played.push(...event.trajectories);
  played.sort((a, b) => a.group - b.group || a.sample - b.sample);
  const turns = played.flatMap(({ steps }) => steps.map(({ action }) => action.tokens!));
  const recorded = turns.map(({ prompt, action, logprobs }) => ({
    ...{ prompt: [...prompt], action: [...action], logprobs: [...logprobs] },
  }));
  let rows: TrlRows | undefined;
  await trainTheirs(env, {
    ...{ python, setting, seed, threads: availableParallelism(), maxSteps: 1, rowsAtATime: played.length },
    out: join(scratch.path, 'theirs'),
    onStep: () => true,
    recorded,
    onRows(given) {
      rows ??= given;
    },
  });
  report(played, rows!);
}

function report(played: readonly Trajectory[], trl: TrlRows): void {
  const wrong: Record<'prompts' | 'tokens' | 'masks' | 'rewards', string[]> = {
    ...{ prompts: [], tokens: [], masks: [], rewards: [] },
  };
  let [sampled, others, unread] = [0, 0, 0];
  for (const [index, trajectory] of played.entries()) {
    const name = `episode ${index}`;
    const [row, ...more] = toTrainingRows(trajectory);
    if (!row || more.length > 0) throw new Error(`${name} has ${more.length + 1} rows here.`);
    const { length } = trajectory.steps[0]!.action.tokens!.prompt;
    const own = {
      prompts: [...row.tokens.subarray(0, length)],
      tokens: [...row.tokens.subarray(length)],
      masks: [...row.mask.subarray(length)],
      rewards: ['em', 'retrieved'].map((reward) => trajectory.rewards[reward] ?? 0),
    };
    const theirs = {
      ...{ prompts: trl.prompts[index]!, tokens: trl.completions[index]! },
      ...{ masks: trl.masks[index]!, rewards: trl.rewards[index]! },
    };
    const end = endAtUnreadCall(trajectory, theirs.tokens.length);
    if (end) {
      unread += 1;
      for (const part of ['tokens', 'masks'] as const) own[part] = own[part].slice(0, theirs.tokens.length);
    }
    for (const part of ['prompts', 'tokens', 'masks', 'rewards'] as const) {
      const at = differsAt(own[part], theirs[part], part === 'rewards' ? 1e-6 : 0);
      if (at === undefined) continue;
      const [a, b] = [own[part], theirs[part]];
      wrong[part].push(`${name}: ${a[at]} here and ${b[at]} in TRL at ${at}, of ${a.length} and ${b.length}`);
    }
    sampled += own.masks.filter((bit) => bit === 1).length;
    others += own.masks.filter((bit) => bit === 0).length;
  }
  const counts = `${played.length} episodes, ${sampled} sampled tokens and ${others} of the environment, ${unread} episodes up to a call that cannot be read`;
  for (const [part, found] of Object.entries(wrong))
    check(
      found.length === 0,
      `TRL's first step has the same ${part}: ${counts}`,
      `${found.length} differ: ${found.slice(0, 3).join('; ')}`,
    );
}

/** Whether the tokens of a completion end with a turn whose call cannot be read, though the episode goes on. */
function endAtUnreadCall({ steps }: Trajectory, length: number): boolean {
  const start = steps[0]!.action.tokens!.prompt.length;
  return steps.slice(0, -1).some(({ action: { tokens, toolCalls } }) => {
    const end = tokens!.prompt.length + tokens!.action.length - start;
    return end === length && toolCalls.some(isParseFailure);
  });
}

/** The first place where two lists differ; `undefined` if they are equal. */
function differsAt(a: readonly number[], b: readonly number[], tolerance: number): number | undefined {
  const length = Math.max(a.length, b.length);
  const at = [...Array(length).keys()].find((place) => !(Math.abs(a[place]! - b[place]!) <= tolerance));
  return at;
}
