/** The whole algorithm on bandits, where the student should end as the teacher. */
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineToolEnv, openEnv, type Policy, ToolEnvError } from '@toolenv/core';
import type { TokenBatch } from '@toolenv/core/learner';
import type { PolicyHandle, Run, TrainEvent } from '@toolenv/core/plugins';
import { BanditModel, openBandit } from '@toolenv/testing';
import { defineAdvantage, type RunOptions } from '@toolenv/training';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type DistillOptions, distill, distillFrom } from '../src/index.ts';

const arms = 4;
let out: string;
beforeEach(async () => {
  out = await mkdtemp(join(tmpdir(), 'distill-'));
});
afterEach(() => rm(out, { recursive: true }));

/** Prefers the third arm, and never quite leaves the others. */
function teacherModel(): BanditModel {
  const teacher = new BanditModel(arms);
  teacher.logits = Float64Array.of(0, 1, 3, -1);
  return teacher;
}

interface Given
  extends Partial<DistillOptions & RunOptions>,
    Partial<Pick<Run, 'seed' | 'resume' | 'signal'>> {}

async function train(
  student: BanditModel,
  teacher: PolicyHandle,
  { seed = 1, resume, signal, ...rest }: Given = {},
  policy: Policy = student,
): Promise<TrainEvent[]> {
  const env = await openBandit({ best: 0 });
  const own = { steps: 60, tasksPerStep: 8, groupSize: 8, learningRate: 0.5, ...rest };
  const run = { env, policy, learner: student, out, seed, resume, signal } as Run;
  const events: TrainEvent[] = [];
  for await (const event of distillFrom(teacher).train(run, own)) events.push(event);
  return events;
}

function metricsOf(events: readonly TrainEvent[]): Record<string, number>[] {
  return events.flatMap((event) => (event.type === 'update' ? [event.metrics] : []));
}

function totalVariation(one: readonly number[], other: readonly number[]): number {
  return one.reduce((sum, p, arm) => sum + Math.abs(p - other[arm]!) / 2, 0);
}

test('the student becomes the teacher, whatever the rewards', async () => {
  const [student, teacher] = [new BanditModel(arms), teacherModel()];
  const before = totalVariation(student.probabilities(), teacher.probabilities());
  const metrics = metricsOf(await train(student, teacher));
  expect(before).toBeGreaterThan(0.5);
  expect(totalVariation(student.probabilities(), teacher.probabilities())).toBeLessThan(0.05);
  // In the first step, the student is uniform: the estimates are of these two numbers.
  const p = teacher.probabilities();
  const kl = p.reduce((sum, each) => sum + (Math.log(1 / arms) - Math.log(each)) / arms, 0);
  expect(Math.abs(metrics[0]!['teacher/reverse_kl']! - kl)).toBeLessThan(0.5);
  expect(Math.abs(metrics[0]!['teacher/agreement']! - (1 - before))).toBeLessThan(0.15);
  expect(Math.abs(metrics.at(-1)!['teacher/reverse_kl']!)).toBeLessThan(0.05);
  expect(metrics.at(-1)!['teacher/agreement']).toBeGreaterThan(0.95);
  expect(metrics[0]!['time/teacher']).toBeGreaterThanOrEqual(0);
});

test('without rewards, episodes that nothing scored are learned from too', async () => {
  const unscored = await openEnv(
    defineToolEnv({
      name: 'unscored-v1',
      description: 'Nobody judges.',
      tasks: { train: { length: 8, get: () => null } },
      rewards: { right: { kind: 'outcome', score: () => null } },
      episode: () => ({ messages: 'Pull an arm.', onAnswer: () => ({ end: 'pulled' }) }),
    }),
  );
  const [student, teacher] = [new BanditModel(arms), teacherModel()];
  const before = totalVariation(student.probabilities(), teacher.probabilities());
  const events: TrainEvent[] = [];
  const run = { env: unscored, policy: student, learner: student, out, seed: 1 } as Run;
  const options = { steps: 5, tasksPerStep: 8, groupSize: 8, learningRate: 0.5 };
  for await (const event of distillFrom(teacher).train(run, options)) events.push(event);
  expect(totalVariation(student.probabilities(), teacher.probabilities())).toBeLessThan(before);
  expect(events.find(({ type }) => type === 'rollout')).toMatchObject({ metrics: { unscored: 64 } });
});

test('each token has the advantage of its two log-probabilities', async () => {
  const [student, teacher] = [new BanditModel(arms), teacherModel()];
  const events = await train(student, teacher, { steps: 1, teacherCoefficient: 0.5 });
  const [rollout, update] = events;
  if (rollout?.type !== 'rollout' || update?.type !== 'update') throw new Error('No step was made.');
  const armOf = new Map(
    rollout.trajectories.map((each) => [each.episodeId, each.steps[0]!.action.tokens!.action[0]!]),
  );
  expect(update.tokens).toHaveLength(64);
  for (const { episodeId, turns } of update.tokens!) {
    const expected = (Math.log(teacher.probabilities()[armOf.get(episodeId)!]!) - Math.log(1 / arms)) / 2;
    // Reports have three decimals.
    expect(Math.abs(turns[0]!.advantages![0]! - expected)).toBeLessThan(6e-4);
  }
});

test('rewards are mixed in: a strong weight leads to the arm that pays', async () => {
  const [student, teacher] = [new BanditModel(arms), teacherModel()];
  await train(student, teacher, { rewardCoefficient: 3, teacherCoefficient: 0.1, learningRate: 0.2 });
  expect(student.probabilities()[0]).toBeGreaterThan(0.9);
  const advantage = defineAdvantage({
    name: 'critical',
    description: 'Reads values',
    needsCritic: true,
    estimate: ({ rewards }) => rewards,
  });
  await expect(train(student, teacher, { rewardCoefficient: 1, advantage })).rejects.toThrow(
    'needs a critic',
  );
  await expect(train(student, teacher, { rewardCoefficient: 1, groupSize: 1 })).rejects.toThrow(
    '"groupSize"',
  );
});

test('the teacher sees the tokens that the student sampled, and nothing else counts', async () => {
  const [student, teacher] = [new BanditModel(arms), teacherModel()];
  const seen: TokenBatch[] = [];
  const watched: PolicyHandle = {
    ...handle(teacher),
    score: async (batch) => {
      seen.push(batch);
      return (await teacher.forward(batch)).logprobs;
    },
  };
  const [rollout] = await train(student, watched, { steps: 1, temperature: 0.7 });
  if (rollout?.type !== 'rollout') throw new Error('No step was made.');
  expect(seen).toHaveLength(1);
  expect(seen[0]!.temperature).toBe(0.7);
  expect(seen[0]!.rows.map(({ tokens }) => [...tokens])).toEqual(
    rollout.trajectories.map(({ steps }) => [
      ...steps[0]!.action.tokens!.prompt,
      ...steps[0]!.action.tokens!.action,
    ]),
  );
  for (const { mask } of seen[0]!.rows) expect([...mask]).toEqual([0, 1]);
});

test('a teacher that fails loses nothing: the finished steps are saved, and the run resumes to the same weights', async () => {
  const options = { steps: 9, checkpointEvery: 0 };
  const whole = new BanditModel(arms);
  await train(whole, teacherModel(), options);
  await rm(out, { recursive: true });
  out = await mkdtemp(join(tmpdir(), 'distill-'));

  const teacher = teacherModel();
  let calls = 0;
  const failing: PolicyHandle = {
    ...handle(teacher),
    score: async (batch) => {
      calls += 1;
      if (calls === 6) throw new ToolEnvError('infrastructure.model_unreachable', 'The server is gone.');
      return (await teacher.forward(batch)).logprobs;
    },
  };
  const student = new BanditModel(arms);
  await expect(train(student, failing, options)).rejects.toMatchObject({
    code: 'infrastructure.model_unreachable',
  });
  expect(await readdir(join(out, 'checkpoints'))).toEqual(['step-5']);
  const resumed = new BanditModel(arms);
  const events = await train(resumed, teacherModel(), { ...options, resume: true });
  expect(events[0]).toMatchObject({ type: 'rollout', step: 6 });
  expect(resumed.weights).toEqual(whole.weights);
});

test('a teacher that never answers ends with the signal, and the finished steps are saved', async () => {
  const controller = new AbortController();
  const reason = new Error('stopped by the test');
  const teacher = teacherModel();
  let calls = 0;
  const silent: PolicyHandle = {
    ...handle(teacher),
    score: async (batch) => {
      calls += 1;
      if (calls < 4) return (await teacher.forward(batch)).logprobs;
      controller.abort(reason);
      return new Promise(() => {});
    },
  };
  const options = { steps: 9, checkpointEvery: 0, signal: controller.signal };
  await expect(train(new BanditModel(arms), silent, options)).rejects.toBe(reason);
  expect(await readdir(join(out, 'checkpoints'))).toEqual(['step-3']);
});

test('numbers that are no log-probabilities end the run before they are learned from', async () => {
  const teacher = teacherModel();
  for (const strange of [Number.NaN, Number.NEGATIVE_INFINITY, 0.5, undefined as unknown as number]) {
    const lying: PolicyHandle = {
      ...handle(teacher),
      score: async ({ rows }) => rows.map(() => [0, strange] as unknown as Float32Array),
    };
    const student = new BanditModel(arms);
    await expect(train(student, lying, { steps: 1 })).rejects.toMatchObject({
      code: 'infrastructure.teacher_logprobs',
    });
    expect(student.weights).toEqual([0, 0, 0, 0]);
  }
});

test('a teacher with a shorter context than an episode is named', async () => {
  const teacher = handle(teacherModel());
  const short: PolicyHandle = { ...teacher, spec: { name: 'short', contextLength: 1 } };
  const error = { code: 'usage.teacher_context', message: expect.stringContaining('short reads 1 tokens') };
  await expect(train(new BanditModel(arms), short, { steps: 1 })).rejects.toMatchObject(error);
});

test('other tokens are refused, naming the first that differs', async () => {
  const teacher = handle(teacherModel());
  const refused = async (vocabulary: ReadonlyMap<number, string> | undefined, message: string) => {
    const other: PolicyHandle = { ...teacher, vocabulary };
    await expect(train(new BanditModel(arms), other)).rejects.toMatchObject({
      code: 'usage.teacher_tokens',
      message: expect.stringContaining(message),
    });
  };
  const known = [...new BanditModel(arms).vocabulary];
  await refused(new Map(known.with(2, [2, 'two'])), 'token 2 is "2" of the student and "two" of the teacher');
  await refused(new Map(known.slice(0, 3)), 'token 3 is "3" of the student and no token of the teacher');
  await refused(undefined, 'The teacher bandit does not say what its tokens are');
  // More tokens do no harm.
  const larger: PolicyHandle = { ...teacher, vocabulary: new Map([...known, [99, 'new']]) };
  await train(new BanditModel(arms), larger, { steps: 1 });
});

test('a teacher that can only play is refused', async () => {
  const { spec, vocabulary, act } = handle(teacherModel());
  const error = { code: 'usage.teacher_scores' };
  await expect(train(new BanditModel(arms), { spec, vocabulary, act })).rejects.toMatchObject(error);
});

test('a run needs a teacher', async () => {
  const student = new BanditModel();
  const run = { env: await openBandit({ best: 1 }), policy: student, learner: student, out, seed: 1 } as Run;
  const first = distill
    .train(run, {} as DistillOptions)
    [Symbol.asyncIterator]()
    .next();
  await expect(first).rejects.toThrow('needs the option "teacher"');
});

/** The parts of a policy as own properties, so that a test replaces some. */
function handle(model: BanditModel): PolicyHandle {
  const { spec, vocabulary } = model;
  return { spec, vocabulary, act: model.act.bind(model), learner: model };
}
