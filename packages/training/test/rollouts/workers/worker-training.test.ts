/** A trainer and workers on one folder: policies go one way, episodes the other. */
import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import {
  collect,
  defineToolEnv,
  type EnvHandle,
  openEnv,
  rollout,
  type SamplingOptions,
  type Trajectory,
} from '@toolenv/core';
import type { PolicyHandle, Scorer } from '@toolenv/core/plugins';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { BanditModel, openBandit } from '../../../../testing/src/trainer/bandit-model.ts';
import { GroupFiles } from '../../../src/rollouts/workers/group-files.ts';
import { readPlan } from '../../../src/rollouts/workers/rollout-plan.ts';
import { type RolloutWorkerOptions, runRolloutWorker } from '../../../src/rollouts/workers/rollout-worker.ts';
import { openSharedFolder } from '../../../src/rollouts/workers/shared-folder.ts';
import { readState } from '../../../src/rollouts/workers/training-state.ts';
import { banditRun, metricOf } from '../../bandit-run.ts';
import { memoryFolder } from './memory-folder.ts';

let root: string;
beforeEach(async () => {
  root = await memoryFolder('worker-training-');
});
afterEach(() => rm(root, { recursive: true, force: true }));

const at = (...names: string[]) => join(root, ...names);

interface StartedWorker {
  ended: Promise<unknown>;
  stop(): void;
}

/** Steps of the run with a slow worker. */
const slowSteps = 12;

/** Resolves when the trainer has made two updates since a version. In its last steps it has no groups to spare. */
async function overtaken(version: string, signal?: AbortSignal): Promise<void> {
  const own = Number(/\d+/.exec(version));
  for (;;) {
    signal?.throwIfAborted();
    const { policyVersion } = (await readState(at('rollouts', 'state.json')))!;
    if (own >= slowSteps - 3 || policyVersion >= own + 2) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/**
 * A worker in this process, from the moment that the trainer has written its plan. Its log-probabilities are lower by `gap`.
 */
function startWorker(
  given: Partial<RolloutWorkerOptions> & { isSlow?: boolean; gap?: number } = {},
): StartedWorker {
  const controller = new AbortController();
  const { isSlow = false, gap = 0, ...options } = given;
  const openPolicy = async (version?: string): Promise<PolicyHandle> => {
    const model = new BanditModel();
    await model.load(at('rollouts', 'policy', version!));
    return {
      spec: model.spec,
      act: async (observation, sampling: SamplingOptions) => {
        if (isSlow) await overtaken(version!, sampling.signal);
        const action = await model.act(observation, sampling);
        const logprobs = action.tokens!.logprobs.map((value) => value - gap);
        return { ...action, tokens: { ...action.tokens!, logprobs } };
      },
      close: async () => {},
    };
  };
  const run = async () => {
    const folder = await openSharedFolder(at('rollouts'));
    let plan = await readPlan(folder.plan);
    while (!plan && !controller.signal.aborted) {
      await new Promise((resolve) => setTimeout(resolve, 10));
      plan = await readPlan(folder.plan);
    }
    if (!plan) return;
    await runRolloutWorker({
      ...{ folder, plan, env: (await openBandit({ best: 1 })) as EnvHandle<unknown>, openPolicy },
      ...{ concurrency: 8, retries: 1, maxAborted: 0.2, expiry: 2_000, drain: 2_000, poll: 20 },
      signal: controller.signal,
      ...options,
    });
  };
  return { ended: run().catch((error: unknown) => error), stop: () => controller.abort(new Error('stop')) };
}

test('two workers play what a trainer learns from, within the staleness, and end with the trainer', async () => {
  const workers = [
    startWorker({ share: { index: 0, count: 2 } }),
    startWorker({ share: { index: 1, count: 2 } }),
  ];
  const options = {
    steps: 12,
    maxStaleness: 1,
    rollouts: at('rollouts'),
    checkpointEvery: 4,
    learningRate: 0.5,
  };
  const run = await banditRun(at('run'), options);
  await Promise.all(workers.map(({ ended }) => ended));
  expect(run.model.probabilities()[1]).toBeGreaterThan(0.7);
  const oldest = metricOf(run, 'rollout', 'staleness/max').map(([, value]) => value);
  expect(Math.max(...oldest.map(Number))).toBeLessThanOrEqual(1);
  const episodes = run.events.flatMap((event) => (event.type === 'rollout' ? event.trajectories : []));
  expect(episodes).toHaveLength(12 * 8);
  expect(new Set(episodes.map(({ group, sample }) => `${group}/${sample}`)).size).toBe(12 * 8);
  expect(new Set(episodes.map((episode) => (episode as unknown as { worker: string }).worker)).size).toBe(2);
  // The sampler's log-probabilities correct for the age of the weights.
  expect(metricOf(run, 'update', 'sampling/importance_sampling_ratio/mean')).toHaveLength(12);
  // What was learned from is gone from the folder; the policies are bounded.
  expect(await readdir(at('rollouts', 'groups'))).toEqual([]);
  expect((await readdir(at('rollouts', 'policy'))).sort()).toEqual([
    'version-10',
    'version-11',
    'version-12',
  ]);
  const last = JSON.parse(await readFile(at('rollouts', 'policy', 'version-12', 'bandit.json'), 'utf8'));
  expect(last.logits).toEqual([...run.model.logits]);
}, 60_000);

test('workers refuse images by the option of the trainer', async () => {
  const picture = defineToolEnv({
    name: 'picture-v1',
    description: 'Shows a picture.',
    tasks: { train: [1, 2] },
    rewards: { seen: { kind: 'outcome' } },
    episode: () => ({
      messages: [
        {
          role: 'user',
          content: '?',
          images: [{ type: 'image', data: 'iVBORw0KGgo=', mimeType: 'image/png' }],
        },
      ],
      onAnswer: () => ({ end: 'answered', rewards: { seen: 1 } }),
    }),
  });
  await using opened = await openEnv(picture);
  const env = opened as EnvHandle<unknown>;
  const blind = new BanditModel();
  const openPolicy = async () => ({ spec: blind.spec, act: blind.act.bind(blind), close: async () => {} });
  const worker = startWorker({ env, openPolicy });
  const trainer = new AbortController();
  const options = { env, onImages: 'refuse', rollouts: at('rollouts'), signal: trainer.signal } as const;
  const training = banditRun(at('run'), options).catch((error: unknown) => error);
  expect(await worker.ended).toMatchObject({ code: 'usage.images' });
  trainer.abort(new Error('no worker is left'));
  expect(await training).toMatchObject({ message: 'no worker is left' });
});

test('the trainer scores the groups that workers have played', async () => {
  const worker = startWorker();
  const scorer: Scorer = {
    name: 'contrary-v1',
    description: 'Prefers arm 0.',
    options: { type: 'object', properties: {} },
    example: { options: {} },
    begin: async () => ({
      score: async (group) => group.map(({ steps }) => ({ value: Number(steps[0]!.action.text === '0') })),
    }),
  };
  const run = await banditRun(at('run'), {
    steps: 2,
    rollouts: at('rollouts'),
    scorer,
    environmentWeight: 0,
  });
  await worker.ended;
  const episodes = run.events.flatMap((event) => (event.type === 'rollout' ? event.trajectories : []));
  expect(episodes).toHaveLength(16);
  for (const { rewards, reward } of episodes) {
    expect(rewards.contrary).toBe(1 - rewards.win!);
    expect(reward).toBe(rewards.contrary);
  }
}, 60_000);

test('without staleness, each step learns from its own policy', async () => {
  const worker = startWorker();
  const run = await banditRun(at('run'), { steps: 4, rollouts: at('rollouts') });
  await worker.ended;
  const versions = run.events.flatMap((event) =>
    event.type === 'rollout'
      ? event.trajectories.map((each) => [
          event.step - 1,
          (each as unknown as { policyVersion: number }).policyVersion,
        ])
      : [],
  );
  expect(versions).toHaveLength(32);
  expect(versions.every(([step, version]) => step === version)).toBe(true);
  expect(metricOf(run, 'rollout', 'stale_episodes').map(([, value]) => value)).toEqual([0, 0, 0, 0]);
}, 60_000);

test('episodes of a slow worker that are too old are replaced and counted, and the run ends', async () => {
  const workers = [startWorker({ isSlow: true, concurrency: 4 }), startWorker()];
  const run = await banditRun(at('run'), { steps: slowSteps, maxStaleness: 1, rollouts: at('rollouts') });
  await Promise.all(workers.map(({ ended }) => ended));
  expect(run.kinds.filter((kind) => kind.startsWith('update'))).toHaveLength(slowSteps);
  const stale = metricOf(run, 'rollout', 'stale_episodes').reduce((sum, [, value]) => sum + value!, 0);
  expect(stale).toBeGreaterThan(0);
  expect(stale % 4).toBe(0);
  for (const [, oldest] of metricOf(run, 'rollout', 'staleness/max')) expect(oldest).toBeLessThanOrEqual(1);
}, 60_000);

/** What a hostile worker makes of a group of four sound episodes. */
const hostile: [string, (episodes: Trajectory[]) => Trajectory[]][] = [
  ['is no group', () => []],
  ['has two episodes of four', (episodes) => episodes.slice(0, 2)],
  [
    'has a token beyond the vocabulary',
    (episodes) => {
      const [{ steps, ...first }, ...others] = episodes as [Trajectory, ...Trajectory[]];
      const tokens = { ...steps[0]!.action.tokens!, prompt: Int32Array.of(10) };
      return [{ ...first, steps: [{ ...steps[0]!, action: { ...steps[0]!.action, tokens } }] }, ...others];
    },
  ],
];

test.each(hostile)(
  'a group whose file %s is replaced and counted, and nothing is learned from it',
  async (_, change) => {
    // Two arms, and the prompts of eight machines.
    const model = Object.assign(new BanditModel(), { vocabularySize: 10 });
    const running = banditRun(at('run'), { steps: 2, rollouts: at('rollouts'), model });
    let state: Awaited<ReturnType<typeof readState>>;
    do {
      await new Promise((resolve) => setTimeout(resolve, 10));
      state = await readState(at('rollouts', 'state.json'));
    } while (!state?.open.length);
    const [group] = state.open[0]!;
    const task = { machine: 0 };
    const requests = Array.from({ length: 4 }, (_, sample) => ({ task, group: group!, sample }));
    const given = { env: await openBandit({ best: 1 }), policy: new BanditModel(), episodes: requests };
    const played = await collect(
      rollout({ ...given, concurrency: 4, sampling: { maxTokens: 8, temperature: 1 }, seed: 1 }),
    );
    const stamp = { taskIndex: 0, worker: 'hostile', policyVersion: 0, restart: 0 };
    await new GroupFiles(at('rollouts', 'groups')).write(group!, change(played), stamp);
    const worker = startWorker();
    const run = await running;
    await worker.ended;
    expect(metricOf(run, 'rollout', 'damaged_groups').map(([, value]) => value)).toEqual([1, 0]);
    const episodes = run.events.flatMap((event) => (event.type === 'rollout' ? event.trajectories : []));
    expect(episodes).toHaveLength(2 * 8);
    expect(episodes.map((episode) => episode.group)).not.toContain(group);
  },
  60_000,
);

test('a trainer that is killed resumes with the same workers, and learns from each group once', async () => {
  const workers = [startWorker(), startWorker()];
  const options = { steps: 9, maxStaleness: 2, rollouts: at('rollouts'), checkpointEvery: 3 };
  const killed = await banditRun(at('run'), { ...options, killAfter: 'update 5' });
  expect(killed.kinds.at(-1)).toBe('update 5');
  const resumed = await banditRun(at('run'), { ...options, resume: true });
  await Promise.all(workers.map(({ ended }) => ended));
  expect(resumed.kinds.filter((kind) => kind.startsWith('update'))).toEqual(
    [4, 5, 6, 7, 8, 9].map((step) => `update ${step}`),
  );
  const state = await readState(at('rollouts', 'state.json'));
  expect(state).toMatchObject({ restarts: [3], finished: true, policy: 'version-9-r1', open: [] });
  const lines = (await readFile(at('run', 'trajectories.jsonl'), 'utf8')).trim().split('\n');
  const episodes = lines.map((line) => JSON.parse(line));
  expect(episodes).toHaveLength(9 * 8);
  expect(new Set(episodes.map(({ group, sample }) => `${group}/${sample}`)).size).toBe(9 * 8);
  // No policy of the steps that the killed trainer lost has played what was learned from.
  for (const { policyVersion, restart } of episodes)
    if (restart === 0) expect(policyVersion).toBeLessThanOrEqual(3);
}, 60_000);

test('another run and another plan are refused', async () => {
  const worker = startWorker();
  await banditRun(at('run'), { steps: 1, rollouts: at('rollouts') });
  await worker.ended;
  await expect(banditRun(at('other'), { steps: 1, rollouts: at('rollouts') })).rejects.toThrow(
    'has the rollouts of another run',
  );
  await expect(
    banditRun(at('run'), { steps: 2, rollouts: at('rollouts'), resume: true, change: true, maxTokens: 9 }),
  ).rejects.toThrow('maxTokens 8 → 9');
}, 60_000);

test('workers are another sampler: their distance is measured and corrected for, also without staleness', async () => {
  const worker = startWorker({ gap: Math.log(2) });
  const options = { steps: 1, rollouts: at('rollouts'), zeroVariance: 'keep' as const };
  const run = await banditRun(at('run'), options);
  await worker.ended;
  const [[, gap]] = metricOf(run, 'update', 'sampling/sampling_logp_difference/mean') as [[number, number]];
  expect(gap).toBeCloseTo(Math.log(2), 5);
  const [[, weight]] = metricOf(run, 'update', 'sampling/importance_sampling_ratio/mean') as [
    [number, number],
  ];
  expect(weight).toBeCloseTo(2, 4);
}, 60_000);

test('groups whose episodes all score the same give way to others, and none of them gets too old', async () => {
  const worker = startWorker();
  const options = {
    steps: 4,
    rollouts: at('rollouts'),
    zeroVariance: 'resample' as const,
    learningRate: 0.01,
  };
  const run = await banditRun(at('run'), options);
  await worker.ended;
  const batches = metricOf(run, 'rollout', 'num_gen_batches').map(([, value]) => value!);
  expect(Math.max(...batches)).toBeGreaterThan(1);
  expect(metricOf(run, 'rollout', 'stale_episodes').map(([, value]) => value)).toEqual([0, 0, 0, 0]);
  expect(await readdir(at('rollouts', 'groups'))).toEqual([]);
}, 60_000);
