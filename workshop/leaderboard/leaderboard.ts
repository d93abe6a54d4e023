/**
 * `npm run leaderboard`: trains and evaluates every row of the table on synthetic worlds: the baselines, PPO, GRPO and its
 * variants, and PPO and GRPO without masks.
 */
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { ToolEnvError } from '@toolenv/core';
import { loadPolicy } from '@toolenv/policy';
import { train, writeWhole } from '@toolenv/training';
import { parseFlags, runAsProcess, TrainingProgress, timeText } from 'toolenv';
import { training } from '../demo/setting.ts';
import { playBaseline } from './baselines.ts';
import {
  closeDatasets,
  type Datasets,
  datasets,
  openDatasets,
  type Score,
  score,
  trainingEnv,
} from './datasets.ts';
import { type Agent, agents, type Baseline, baselines } from './entries.ts';
import { type LeaderboardFlags, leaderboardFlags } from './flags.ts';
import { barChart, markdown } from './report.ts';
import { appendResult, type Result, readResults } from './results.ts';
import { summarise } from './summary.ts';

await runAsProcess(async (signal) => {
  const flags = await parseFlags(leaderboardFlags, {
    name: 'leaderboard',
    description: 'Trains and evaluates every row of docs/benchmarks/table.md.',
    argv: process.argv.slice(2),
  });
  if (flags) await makeTable(flags, signal);
});

async function makeTable(flags: LeaderboardFlags, signal: AbortSignal): Promise<void> {
  const { seeds, steps, count, rows, work, out } = flags;
  const file = join(work, 'results.jsonl');
  const wanted = chosenRows(rows);
  for (let seed = 1; seed <= seeds; seed++) {
    const open = await openDatasets(seed);
    try {
      for (const row of wanted) {
        const done = await readResults(file);
        if (done.some((result) => isOf(result, row.name, seed, flags))) continue;
        process.stdout.write(`${row.name}, seed ${seed}\n`);
        const begun = performance.now();
        const played = await ('baseline' in row
          ? baseline(row, open, seed, flags, signal)
          : agent(row, open, seed, flags, signal));
        const seconds = (performance.now() - begun) / 1000;
        const result: Result = {
          row: row.name,
          seed,
          count,
          seconds,
          steps: 'baseline' in row ? 0 : steps,
          ...played,
        };
        await appendResult(file, result);
        const scores = datasets.map((name) => `${name} ${result.scores[name]!.em.toFixed(3)}`).join(', ');
        process.stdout.write(`  EM ${scores}, in ${timeText(seconds)}\n`);
      }
    } finally {
      await closeDatasets(open);
    }
  }

  const results = (await readResults(file)).filter((result) => isOf(result, result.row, result.seed, flags));
  const summary = summarise(results);
  await mkdir(out, { recursive: true });
  await writeWhole(
    join(out, 'table.json'),
    `${JSON.stringify({ steps, count, rows: summary, results }, null, 2)}\n`,
  );
  await writeWhole(join(out, 'table.md'), markdown(summary, { steps, count, seeds }));
  await writeWhole(join(out, 'table.svg'), barChart(summary));
  process.stdout.write(`The table is in ${join(out, 'table.md')}.\n`);
}

/** @throws ToolEnvError `usage.bad_flag` for an unknown row. */
function chosenRows(names: string): (Baseline | Agent)[] {
  const all = [...baselines, ...agents];
  if (names === '') return all;
  const chosen = names.split(',').map((name) => name.trim());
  const unknown = chosen.find((name) => !all.some((row) => row.name === name));
  if (unknown === undefined) return all.filter(({ name }) => chosen.includes(name));
  const known = all.map(({ name }) => name).join('; ');
  throw new ToolEnvError('usage.bad_flag', `--rows: there is no row "${unknown}": choose from ${known}.`);
}

/** Whether a result has this row and seed and was measured with these flags. */
function isOf(
  { row, seed, count, steps }: Result,
  name: string,
  ofSeed: number,
  flags: LeaderboardFlags,
): boolean {
  return (
    row === name &&
    seed === ofSeed &&
    count === flags.count &&
    (steps === 0 || steps === flags.steps) &&
    seed <= flags.seeds
  );
}

async function baseline(
  row: Baseline,
  open: Datasets,
  seed: number,
  { policy: folder, count }: LeaderboardFlags,
  signal: AbortSignal,
): Promise<Pick<Result, 'scores' | 'prompt'>> {
  await using policy = await loadPolicy(folder);
  return await playBaseline(row, open, policy, { count, seed, signal });
}

async function agent(
  row: Agent,
  open: Datasets,
  seed: number,
  { policy: folder, count, steps, work }: LeaderboardFlags,
  signal: AbortSignal,
): Promise<Pick<Result, 'scores'>> {
  const out = join(work, `${row.name.toLowerCase().replaceAll(/[^a-z]+/g, '-')}-${seed}`);
  await rm(out, { recursive: true, force: true });
  await using policy = await loadPolicy(folder);
  const run = {
    env: trainingEnv(open),
    policy,
    trainer: row.trainer,
    out,
    seed,
    signal,
    trajectories: false,
  };
  const options = { ...training, checkpointEvery: 0, ...row.options, steps };
  const progress = new TrainingProgress(steps);
  try {
    for await (const event of train<Record<string, unknown>>({ ...run, ...options })) progress.show(event);
  } finally {
    progress.stop();
  }
  const scores: Record<string, Score> = {};
  for (const name of datasets)
    scores[name] = await score(open[name], policy, { split: 'test', count, seed, signal });
  return { scores };
}
