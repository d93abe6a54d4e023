/** The loop that every trainer runs on: its options, its events, and what it keeps when it stops. */
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type EnvHandle, ToolEnvError } from '@toolenv/core';
import type { Run, TrainEvent } from '@toolenv/core/plugins';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { LadderEnv, openLadder } from '../../../core/test/ladder-env.ts';
import { TableLearner, TablePolicy } from '../../../testing/test/table-model.ts';
import { countTokens, defineTrainer, type RolloutBatch, type RunOptions } from '../../src/index.ts';

let out: string;
beforeEach(async () => {
  out = await mkdtemp(join(tmpdir(), 'run-loop-'));
});
afterEach(() => rm(out, { recursive: true }));

const batches: RolloutBatch[] = [];
/** Makes every sampled token less likely, and counts its updates. */
const forget = defineTrainer({
  name: 'forget',
  description: 'Forgets',
  options: {
    type: 'object',
    properties: { rate: { type: 'number', minimum: 0, default: 0.1, description: 'of learning' } },
  },
  defaults: { tasksPerStep: 3, groupSize: 2, maxTokens: 4 },
  create({ options: { rate }, optimize }) {
    const memory = { updates: 0 };
    return {
      memory,
      async update(batch) {
        batches.push(batch);
        memory.updates += 1;
        const dLogprobs = batch.rows.map(({ mask }) => Float32Array.from(mask));
        const { gradNorm } = await optimize(batch.rows, { dLogprobs }, { learningRate: rate });
        return { grad_norm: gradNorm, learned_tokens: countTokens(batch.rows.map(({ mask }) => mask)) };
      },
    };
  },
});

function runOf(learner: TableLearner, run: Partial<Run> = {}): Run {
  const env = openLadder() as EnvHandle<unknown>;
  return { env, policy: new TablePolicy(), learner, out, seed: 1, ...run };
}

async function train(options: Partial<RunOptions & { rate: number }>, run: Run): Promise<TrainEvent[]> {
  batches.length = 0;
  const events: TrainEvent[] = [];
  for await (const event of forget.train(run, options)) events.push(event);
  return events;
}

const kinds = (events: readonly TrainEvent[]) => events.map(({ type, step }) => `${type} ${step}`);

test('rolls out, updates, evaluates and checkpoints, in this order', async () => {
  const options = { steps: 3, evaluateEvery: 2, evaluationEpisodes: 2, checkpointEvery: 2 };
  const events = await train(options, runOf(new TableLearner()));
  expect(kinds(events)).toEqual([
    'rollout 1',
    'update 1',
    'rollout 2',
    'update 2',
    'evaluation 2',
    'checkpoint 2',
    'rollout 3',
    'update 3',
    'checkpoint 3',
  ]);
  expect(batches.map(({ step }) => step)).toEqual([0, 1, 2]);
  const [first] = events;
  if (first?.type !== 'rollout') throw new Error('the first event is no rollout');
  // Three tasks with two samples each.
  expect(first.trajectories.map(({ group, sample }) => `${group}${sample}`)).toEqual([
    '00',
    '01',
    '10',
    '11',
    '20',
    '21',
  ]);
  expect(batches[0]!.trajectories).toEqual(first.trajectories);
});

test('restores the memory of the algorithm and ends with the bits of an uninterrupted run', async () => {
  const [whole, stopped, resumed] = [new TableLearner(), new TableLearner(), new TableLearner()];
  await train({ steps: 5, checkpointEvery: 0 }, runOf(whole));
  await rm(join(out, 'checkpoints'), { recursive: true });
  await train({ steps: 2 }, runOf(stopped));
  const events = await train({ steps: 5 }, runOf(resumed, { resume: true }));
  expect(kinds(events)[0]).toBe('rollout 3');
  expect(resumed.table).toEqual(whole.table);
  const state = await readFile(join(out, 'checkpoints', 'step-5', 'trainer_state.json'), 'utf8');
  expect(JSON.parse(state).memory).toEqual({ updates: 5 });
});

test('keeps every finished step when it is interrupted in a rollout', async () => {
  const stop = new AbortController();
  const learner = new TableLearner();
  const run = runOf(learner, { signal: stop.signal });
  const act = run.policy.act.bind(run.policy);
  run.policy.act = (observation, options) => {
    if (batches.length === 2) stop.abort(new Error('stopped'));
    return act(observation, options);
  };
  const events: TrainEvent[] = [];
  batches.length = 0;
  const interrupted = (async () => {
    for await (const event of forget.train(run, { steps: 9, checkpointEvery: 0 })) events.push(event);
  })();
  await expect(interrupted).rejects.toThrow('stopped');
  expect(kinds(events).slice(-2)).toEqual(['update 2', 'checkpoint 2']);
});

test('a stuck environment ends an evaluation by the deadline', async () => {
  class Stuck extends LadderEnv {
    override reset(options: Parameters<LadderEnv['reset']>[0]): ReturnType<LadderEnv['reset']> {
      return options.task.goal === 1 ? new Promise(() => {}) : super.reset(options);
    }
  }
  const options = { steps: 1, evaluateEvery: 1, evaluationEpisodes: 2, deadline: 200 };
  const events = await train(
    options,
    runOf(new TableLearner(), { env: openLadder(() => new Stuck()) as never }),
  );
  expect(kinds(events)).toContain('evaluation 1');
}, 10_000);

test.each([
  ['abort', 'aborted', null],
  ['truncate', 'truncated', 0],
] as const)('with onDeadline %s, the episodes of slow tools are %s', async (onDeadline, kind, reward) => {
  const isSlow = (goal: number) => goal > 5;
  class Slow extends LadderEnv {
    #goal = 0;
    override reset(options: Parameters<LadderEnv['reset']>[0]): ReturnType<LadderEnv['reset']> {
      this.#goal = options.task.goal;
      return super.reset(options);
    }
    override step(...given: Parameters<LadderEnv['step']>): ReturnType<LadderEnv['step']> {
      return isSlow(this.#goal) ? new Promise(() => {}) : super.step(...given);
    }
  }
  const options = { steps: 1, tasksPerStep: 10, deadline: 200, onDeadline, maxAborted: 1 } as const;
  const env = openLadder(() => new Slow()) as never;
  const [rollout] = await train(options, runOf(new TableLearner(), { env }));
  if (rollout?.type !== 'rollout') throw new Error('the first event is no rollout');
  const slow = rollout.trajectories.filter(({ task }) => isSlow((task as { goal: number }).goal));
  expect(slow.map((episode) => [episode.outcome.kind, episode.reward])).toEqual(
    Array(10).fill([kind, reward]),
  );
  const learned = batches[0]!.trajectories.filter((episode) => slow.includes(episode));
  expect(learned).toHaveLength(onDeadline === 'abort' ? 0 : 10);
});

test('an update that has nothing to learn from is skipped', async () => {
  class Gone extends LadderEnv {
    override async reset(): Promise<never> {
      throw new ToolEnvError('infrastructure.server', 'gone');
    }
  }
  const learner = new TableLearner();
  const start = [...learner.table];
  const events = await train({ steps: 1 }, runOf(learner, { env: openLadder(() => new Gone()) as never }));
  expect(batches).toEqual([]);
  expect(events[1]).toMatchObject({ type: 'update', metrics: { learned_tokens: 0 } });
  expect([...learner.table]).toEqual(start);
});

test('missing parts of the run and wrong options are usage errors that name them', async () => {
  const { learner: _, ...incomplete } = runOf(new TableLearner());
  const first = (run: unknown, options: object) =>
    forget
      .train(run as Run, options)
      [Symbol.asyncIterator]()
      .next();
  await expect(first(incomplete, {})).rejects.toMatchObject({
    code: 'usage.run',
    message: expect.stringContaining('needs run.learner'),
  });
  await expect(first({ ...runOf(new TableLearner()), steps: 1 }, { step: 2 })).rejects.toMatchObject({
    code: 'usage.unknown_option',
    message: expect.stringContaining('Did you mean "steps"?'),
  });
  await expect(first(runOf(new TableLearner()), { rate: 'fast' })).rejects.toMatchObject({
    code: 'usage.bad_option',
  });
});

test('an option that the loop has too is refused when the trainer is defined', () => {
  const options = { type: 'object', properties: { steps: { type: 'integer', default: 1 } } } as const;
  const create = () => ({ update: async () => ({}) });
  expect(() => defineTrainer({ name: 'twice', description: '', options, create })).toThrow(
    'option "steps" belongs to the run loop',
  );
});

/** Environments whose episodes throw from the third rollout on. */
function failingLater(error: () => Error): EnvHandle<unknown> {
  class Failing extends LadderEnv {
    override async reset(options: Parameters<LadderEnv['reset']>[0]): ReturnType<LadderEnv['reset']> {
      if (batches.length >= 2) throw error();
      return super.reset(options);
    }
  }
  return openLadder(() => new Failing()) as EnvHandle<unknown>;
}

async function untilFailure(options: Partial<RunOptions>, env: EnvHandle<unknown>) {
  const events: TrainEvent[] = [];
  batches.length = 0;
  const failure = await (async () => {
    for await (const event of forget.train(runOf(new TableLearner(), { env }), options)) events.push(event);
  })().catch((error: unknown) => error);
  return { failure, kinds: kinds(events) };
}

test('a bug of the environment stops the run with its own error, after a checkpoint', async () => {
  const bug = new TypeError('task.entry is undefined');
  const options = { steps: 9, checkpointEvery: 0 };
  const stopped = await untilFailure(
    options,
    failingLater(() => bug),
  );
  expect(stopped.failure).toBe(bug);
  expect(stopped.kinds.slice(-2)).toEqual(['update 2', 'checkpoint 2']);
});

test('with onBug "abort-episode" the run goes on, until too many episodes are aborted', async () => {
  const options = { steps: 9, checkpointEvery: 0, onBug: 'abort-episode' } as const;
  const failing = failingLater(() => new TypeError('task.entry is undefined'));
  const { failure, kinds: seen } = await untilFailure(options, failing);
  // 12 episodes of two steps are fine. Of the next 13, the thirteenth is one more than a fifth of 64.
  expect(seen.slice(-3)).toEqual(['rollout 4', 'update 4', 'checkpoint 4']);
  expect(failure).toMatchObject({
    code: 'infrastructure.too_many_aborted',
    message: expect.stringMatching(
      /^13 of the last 25 episodes were aborted\. .*Causes: 13 × infrastructure\.bug: task\.entry is undefined$/,
    ),
  });
  const all = await untilFailure({ ...options, steps: 6, maxAborted: 1 }, failing);
  expect(all.failure).toBeUndefined();
  expect(all.kinds.at(-1)).toBe('checkpoint 6');
});

/** Fails in the given update, before or after its optimizer step. */
function failing(at: number, when: 'before' | 'after', closed: () => void) {
  return defineTrainer({
    name: 'failing',
    description: 'Fails',
    options: { type: 'object', properties: {} },
    defaults: { tasksPerStep: 3, groupSize: 2, maxTokens: 4 },
    create({ optimize }) {
      const memory = { updates: 0 };
      return {
        memory,
        close: async () => closed(),
        async update({ step, rows }) {
          memory.updates += 1;
          const fail = (then: typeof when) => {
            if (step + 1 === at && then === when)
              throw new ToolEnvError('infrastructure.gone', 'It is gone.');
          };
          fail('before');
          await optimize(
            rows,
            { dLogprobs: rows.map(({ mask }) => Float32Array.from(mask)) },
            { learningRate: 0.1 },
          );
          fail('after');
          return { updates: memory.updates };
        },
      };
    },
  });
}

test.each([
  ['before', 'its optimizer step keeps the finished steps', ['step-3']],
  ['after', 'its optimizer step saves no weights of an unfinished step', []],
] as const)('an update that fails %s %s', async (when, _, saved) => {
  let closings = 0;
  const options = { steps: 5, checkpointEvery: 0 };
  const play = async (at: number, resume: boolean) => {
    const learner = new TableLearner();
    const trainer = failing(at, when, () => {
      closings += 1;
    });
    const metrics: unknown[] = [];
    for await (const event of trainer.train(runOf(learner, { resume }), options))
      if (event.type === 'update') metrics.push(event.metrics.updates);
    return metrics;
  };
  await expect(play(4, false)).rejects.toThrow('It is gone.');
  expect(await readdir(join(out, 'checkpoints')).catch(() => [])).toEqual(saved);
  expect(closings).toBe(1);
  if (saved.length === 0) return;
  // The memory of the algorithm is that of the finished steps.
  expect(await play(9, true)).toEqual([4, 5]);
  expect(closings).toBe(2);
});
