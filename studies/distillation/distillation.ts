/**
 * `npm run distillation`: teaches a student by distillation, and by GRPO, until it is nearly as good as its teacher, and counts the episodes
 * of both. Both begin with the same student and have the same options. Finished runs are kept, and an unfinished run resumes.
 */
import { appendFile, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openEnv } from '@toolenv/core';
import type { OptionsOf } from '@toolenv/core/schemas';
import { loadPolicy, type TransformerPolicy } from '@toolenv/policy';
import { distillFrom } from '@toolenv/trainer-distill';
import { grpo } from '@toolenv/trainer-grpo';
import { evaluate, train } from '@toolenv/training';
import { parseFlags, runAsProcess } from 'toolenv';
import { commit } from '../../workshop/commit.ts';
import { environment, envOptions, training } from '../../workshop/demo/setting.ts';
import { text, whole } from '../../workshop/flags.ts';

const schema = {
  type: 'object',
  properties: {
    teacher: text('folder of the teacher', 'runs/demo/policy'),
    student: text('folder that both trainers begin with', 'packages/checkpoints/tiny'),
    share: {
      type: 'number',
      exclusiveMinimum: 0,
      maximum: 1,
      default: 0.9,
      description: "share of the teacher's EM at which a run ends",
    },
    steps: whole('most updates of a run', { default: 100 }),
    every: whole('updates between evaluations', { default: 1 }),
    questions: whole('held-out questions of an evaluation', { default: 100 }),
    learningRate: { type: 'number', minimum: 0, default: 1e-4, description: 'learning rate of both' },
    seeds: whole('runs of each trainer', { default: 3 }),
    out: text('folder of the runs', 'runs/distillation'),
    results: text(
      'file of the finished runs, which are not repeated; npm run numbers shows it',
      'docs/benchmarks/distillation.jsonl',
    ),
  },
} as const;

/** A run that has ended, and what the student scored then. */
export interface Result {
  trainer: string;
  seed: number;
  /** Until an evaluation reached the share. */
  episodes: number;
  reached: boolean;
  em: number;
  teacherEm: number;
  learningRate: number;
  /** Episodes and EM of each evaluation. */
  curve: [episodes: number, em: number][];
}

await runAsProcess(async (signal) => {
  const flags = await parseFlags(schema, {
    name: 'distillation',
    description: 'Counts the episodes that distillation and GRPO need.',
    argv: process.argv.slice(2),
  });
  if (!flags) return;
  const { results: file, share, seeds } = flags;
  await using teacher = await loadPolicy(flags.teacher);
  const teacherEm = await emOf(teacher, flags.questions, signal);
  console.log(
    `The teacher's EM is ${teacherEm.toFixed(3)}: the runs end at ${(share * teacherEm).toFixed(3)}.`,
  );
  const known = (await readFile(file, 'utf8').catch(() => '')).split('\n').filter((line) => line !== '');
  const results = known.map((line): Result => JSON.parse(line));
  for (let seed = 1; seed <= seeds; seed++) {
    for (const [name, trainer] of [
      ['distill', distillFrom(teacher)],
      ['grpo', grpo],
    ] as const) {
      if (results.some((each) => each.trainer === name && each.seed === seed)) continue;
      const result = await taught({ name, trainer, seed, target: share * teacherEm }, flags, signal);
      const { learningRate } = flags;
      results.push({ trainer: name, seed, ...result, teacherEm, learningRate });
      const stamp = { commit: commit(), node: process.version };
      await appendFile(file, `${JSON.stringify({ ...results.at(-1), ...stamp })}\n`);
      console.log(resultText(results.at(-1)!));
    }
  }
});

/** Trains until an evaluation reaches the target. */
async function taught(
  run: { name: string; trainer: ReturnType<typeof distillFrom> | typeof grpo; seed: number; target: number },
  { student, steps, every, questions, learningRate, out }: OptionsOf<typeof schema>,
  signal: AbortSignal,
): Promise<Pick<Result, 'episodes' | 'reached' | 'em' | 'curve'>> {
  const { name, trainer, seed, target } = run;
  await using env = await openEnv(environment, envOptions, { seed });
  await using policy = await loadPolicy(student);
  const folder = join(out, `${name}-${seed}`);
  const resume = (await readFile(join(folder, 'config.json')).catch(() => undefined)) !== undefined;
  const evaluation = { evaluateEvery: every, evaluationEpisodes: questions, checkpointEvery: every };
  const same = { ...training, learningRate, steps, ...evaluation, trajectories: false };
  const curve: Result['curve'] = [];
  const ended = (reached: boolean) => {
    const [episodes, em] = curve.at(-1) ?? [0, 0];
    return { episodes, em, reached, curve };
  };
  for await (const event of train<object>({
    env,
    policy,
    trainer,
    seed,
    out: folder,
    signal,
    resume,
    ...same,
  })) {
    if (event.type !== 'evaluation') continue;
    const episodes = event.step * training.tasksPerStep * training.groupSize;
    const em = event.metrics['rewards/em/mean'] ?? 0;
    curve.push([episodes, em]);
    console.log(`${name}, seed ${seed}: ${episodes} episodes, EM ${em.toFixed(3)}`);
    if (em >= target) return ended(true);
  }
  return ended(false);
}

/** On held-out questions, greedily. */
async function emOf(policy: TransformerPolicy, count: number, signal: AbortSignal): Promise<number> {
  await using env = await openEnv(environment, envOptions, { seed: 1 });
  const { maxTokens } = training;
  const { means } = await evaluate({ env, policy, split: 'validation', count, maxTokens, signal });
  return means.em ?? 0;
}

function resultText({ trainer, seed, episodes, reached, em, teacherEm }: Result): string {
  const end = reached ? `${episodes} episodes` : `not within ${episodes} episodes`;
  return `${trainer}, seed ${seed}: ${end}, EM ${em.toFixed(3)} of the teacher's ${teacherEm.toFixed(3)}`;
}
