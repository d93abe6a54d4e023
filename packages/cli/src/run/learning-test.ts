/** The learning test: whether a policy that imitates the oracle in training tasks earns more in tasks that it has not seen. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  collect,
  type EnvDefinition,
  type OpenedEnv,
  rollout,
  type Split,
  ToolEnvError,
} from '@toolenv/core';
import { loadPlugin, openPolicy, type PolicyHandle } from '@toolenv/core/plugins';
import { encodeTrajectory } from '@toolenv/core/recording';
import type { Learned } from '@toolenv/testing';
import { type Evaluation, evaluate, pairedDifference } from '@toolenv/training';
import { KnownPlayer, openForPlayer } from '../subject/known-player.ts';

export interface LearningOptions {
  definition: EnvDefinition;
  /** Opens the environment. */
  open(): Promise<OpenedEnv<unknown>>;
  /** Folder or name of the policy that learns. */
  policy: string;
  /** Of training, without the evaluations. */
  minutes: number;
  /** Updates after which training ends, if the minutes are not over. Default: no limit. */
  updates?: number;
  seed: number;
  signal: AbortSignal;
  /** Called before each part of the test, with the share of the minutes that are over. */
  onStatus?(status: string, share: number): void;
}

const trainer = '@toolenv/trainer-sft/sft-v1';
/** Training tasks that the oracle plays, and tasks that test the policy. */
const [demonstrated, tested] = [512, 64];
/** Evaluations during training. */
const marks = 3;
/** Right for policies of 1 to 150 million parameters in short runs. */
const sftOptions = { learningRate: 2e-4, batchSize: 16, epochs: 10_000 };

/**
 * Trains by supervised fine-tuning on the oracle's episodes, and evaluates greedily before, meanwhile and after.
 * @throws ToolEnvError `usage.learning_test` without training or test tasks, or for a policy that cannot learn.
 */
export async function learningTest(options: LearningOptions): Promise<Learned> {
  const { seed, signal } = options;
  const out = await mkdtemp(join(tmpdir(), 'toolenv-learning-'));
  try {
    await using env = await options.open();
    const policy = await openPolicy(options.policy, { seed, signal });
    try {
      return await learn(env, policy, out, options);
    } finally {
      await policy.close?.();
    }
  } finally {
    await rm(out, { recursive: true, force: true });
  }
}

/** @param out Folder for the demonstrations and the run. */
async function learn(
  env: OpenedEnv<unknown>,
  policy: PolicyHandle,
  out: string,
  options: LearningOptions,
): Promise<Learned> {
  const { minutes, seed, signal, onStatus } = options;
  const { learner } = policy;
  if (!learner) throw unusable(`${options.policy} has no weights to train: name a checkpoint by --policy`);
  const split = await testSplit(env);
  let [updates, trained] = [0, 0];
  const tell = (status: string) => onStatus?.(status, Math.min(1, trained / minutes));
  const test = (part: string) => {
    tell(`plays test tasks ${part}`);
    return evaluate({ env, policy, split, count: tested, maxTokens: 128, signal });
  };
  tell('plays the oracle');
  const data = join(out, 'demonstrations.jsonl');
  const demonstrations = await demonstrate(data, options);
  const before = await test('before training');
  const curve = [{ minutes: 0, reward: before.reward }];
  let latest = before;
  let resumed = performance.now();
  const { train } = await loadPlugin('trainers', trainer);
  for await (const { type } of train({ policy, learner, out, seed, signal }, { ...sftOptions, data })) {
    if (type !== 'update') continue;
    updates += 1;
    trained += (performance.now() - resumed) / 60_000;
    const isOver = trained >= minutes || updates >= (options.updates ?? Number.POSITIVE_INFINITY);
    if (isOver || trained >= (curve.length * minutes) / marks) {
      latest = await test(`after ${updates} updates`);
      curve.push({ minutes: trained, reward: latest.reward });
    }
    if (isOver) break;
    tell(`${updates} updates`);
    resumed = performance.now();
  }
  const difference = pairedDifference(rewardsOf(before), rewardsOf(latest));
  return {
    policy: options.policy,
    minutes: trained,
    updates,
    demonstrations,
    split,
    tasks: before.tasks.length,
    before: before.reward,
    after: latest.reward,
    interval: difference?.interval ?? null,
    curve,
  };
}

function rewardsOf({ tasks }: Evaluation): number[][] {
  return tasks.map(({ reward }) => reward);
}

function unusable(what: string): ToolEnvError {
  return new ToolEnvError('usage.learning_test', `The learning test cannot run: ${what}.`);
}

async function testSplit({ tasks }: OpenedEnv<unknown>): Promise<Split> {
  for (const split of ['test', 'validation'] as const) if ((await tasks[split].length) > 0) return split;
  throw unusable('there is no task in the splits test and validation');
}

/** Writes episodes of the oracle, and returns their number. */
async function demonstrate(
  file: string,
  { definition, open, seed, signal }: LearningOptions,
): Promise<number> {
  const oracle = new KnownPlayer('oracle');
  await using env = await openForPlayer(oracle, definition, open);
  const { train } = env.tasks;
  const count = Math.min(demonstrated, await train.length);
  if (count === 0) throw unusable('there is no training task');
  const episodes = Array.from({ length: count }, (_, group) => ({
    task: train.get(group),
    group,
    sample: 0,
  }));
  const policy = await oracle.open();
  const sampling = { maxTokens: 1024, temperature: 0 };
  const played = await collect(
    rollout({ env, policy, episodes, concurrency: 16, sampling, seed, signal, onBug: 'abort-episode' }),
  );
  const finished = played.filter(({ outcome }) => outcome.kind !== 'aborted');
  await writeFile(file, finished.map((episode) => `${encodeTrajectory(episode)}\n`).join(''));
  return finished.length;
}
