/**
 * `npm run evolution`: what evolution strategies and GRPO learn in equal time, from the same start, each on one thread. The time is that of the
 * processor, so that other programs do not count. Finished runs are kept.
 */
import { appendFile, readFile } from 'node:fs/promises';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { openEnv } from '@toolenv/core';
import type { OptionsOf } from '@toolenv/core/schemas';
import { loadPolicy, type TransformerPolicy } from '@toolenv/policy';
import { es } from '@toolenv/trainer-es';
import { grpo } from '@toolenv/trainer-grpo';
import { evaluate, train } from '@toolenv/training';
import { parseFlags, runAsProcess } from 'toolenv';
import { commit } from '../../workshop/commit.ts';
import { environment, envOptions, training } from '../../workshop/demo/setting.ts';
import { text, whole } from '../../workshop/flags.ts';

const schema = {
  type: 'object',
  properties: {
    minutes: whole('minutes of processor time that a run trains', { default: 4 }),
    questions: whole('held-out questions of an evaluation', { default: 200 }),
    seeds: whole('runs of each trainer', { default: 3 }),
    out: text('folder of the runs', 'runs/evolution'),
    results: text(
      'file of the finished runs, which are not repeated; npm run numbers shows it',
      'docs/benchmarks/evolution.jsonl',
    ),
  },
} as const;

type Flags = OptionsOf<typeof schema>;

const start = 'packages/checkpoints/tiny';
const { maxTokens } = training;

/** GRPO has the options of the demo. */
const trainers = { es: { trainer: es, options: { maxTokens } }, grpo: { trainer: grpo, options: training } };

/** A run that has ended. */
export interface EvolutionResult {
  trainer: keyof typeof trainers;
  seed: number;
  updates: number;
  episodes: number;
  /** EM on held-out questions after so many minutes of processor time, 0 first. */
  curve: [minutes: number, em: number][];
}

await runAsProcess(async (signal) => {
  const flags = await parseFlags(schema, {
    name: 'evolution',
    description: 'Trains by evolution strategies and by GRPO in equal time.',
    argv: process.argv.slice(2),
  });
  if (!flags) return;
  const lines = (await readFile(flags.results, 'utf8').catch(() => '')).split('\n').filter(Boolean);
  const known = lines.map((line): EvolutionResult => JSON.parse(line));
  const machine = `1 of ${cpus().length} cores of ${cpus()[0]?.model.trim()}, Node ${process.versions.node}`;
  for (let seed = 1; seed <= flags.seeds; seed++) {
    for (const trainer of ['es', 'grpo'] as const) {
      if (known.some((each) => each.trainer === trainer && each.seed === seed)) continue;
      const result = await trained(trainer, seed, flags, signal);
      await appendFile(flags.results, `${JSON.stringify({ ...result, machine, commit: commit() })}\n`);
    }
  }
});

/** Trains for the given time, and evaluates after each minute of it. */
async function trained(
  name: keyof typeof trainers,
  seed: number,
  { minutes, questions, out }: Flags,
  signal: AbortSignal,
): Promise<EvolutionResult> {
  await using env = await openEnv(environment, envOptions, { seed });
  await using policy = await loadPolicy(start, { threads: 1 });
  const { trainer, options } = trainers[name];
  const folder = join(out, `${name}-${seed}-${Date.now()}`);
  const loop = { steps: 10_000, checkpointEvery: 0, trajectories: false, signal };
  const result: EvolutionResult = { trainer: name, seed, updates: 0, episodes: 0, curve: [] };
  const judge = async (minute: number) => {
    const em = await emOf(policy, questions, signal);
    result.curve.push([minute, em]);
    console.log(`${name}, seed ${seed}, ${minute} min: ${result.episodes} episodes, EM ${em.toFixed(3)}`);
  };
  await judge(0);
  let spent = 0;
  let since = process.cpuUsage();
  for await (const event of train<object>({ env, policy, trainer, seed, out: folder, ...options, ...loop })) {
    if (event.type === 'rollout') result.episodes += event.trajectories.length;
    if (event.type !== 'update') continue;
    result.updates = event.step;
    const { user, system } = process.cpuUsage(since);
    spent += (user + system) / 60e6;
    while (spent >= result.curve.length && result.curve.length <= minutes) await judge(result.curve.length);
    if (spent >= minutes) break;
    since = process.cpuUsage();
  }
  return result;
}

/** On held-out questions, greedily. */
async function emOf(policy: TransformerPolicy, count: number, signal: AbortSignal): Promise<number> {
  await using env = await openEnv(environment, envOptions, { seed: 1 });
  const { means } = await evaluate({ env, policy, split: 'validation', count, maxTokens, signal });
  return means.em ?? 0;
}
