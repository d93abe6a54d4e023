/**
 * `npm run leaderboard`: trains and scores every row of a study on synthetic worlds, and writes its page. A run that exists in
 * the file of results is not repeated, and an interrupted run resumes.
 */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { ToolEnvError } from '@toolenv/core';
import { writeAtomic } from '@toolenv/core/files';
import { parseFlags, runAsProcess, timeText } from 'toolenv';
import { atOnce } from '../../workshop/at-once.ts';
import { commit } from '../../workshop/commit.ts';
import { runAgain } from '../../workshop/run-node.ts';
import { searchOf } from '../failures/failing-search.ts';
import { priceCurve } from '../price/curve.ts';
import { rowsAt } from '../price/utility.ts';
import { digestOf } from '../shared/digest.ts';
import { appendResult, readResults } from '../shared/result-file.ts';
import { barChart } from './chart.ts';
import { closeDatasets, openDatasets } from './datasets.ts';
import { type LeaderboardFlags, leaderboardFlags } from './flags.ts';
import { pageOf } from './page.ts';
import { playRow } from './play-row.ts';
import { experimentOf, folderOf, isOf, type Result, resultsOf, type Setting } from './results.ts';
import { studies } from './studies.ts';
import { type Row, type Study, testQuestionsOf, tuningOf, tuningSeed } from './study.ts';
import { summarise } from './summary.ts';

await runAsProcess(async (signal) => {
  const flags = await parseFlags(leaderboardFlags, {
    name: 'leaderboard',
    description: 'Trains and scores the rows of a study, and writes its page in docs/benchmarks.',
    argv: process.argv.slice(2),
  });
  if (!flags) return;
  const study = studies[flags.study];
  const { world } = flags;
  if (flags.tune) await measure(tuningOf(study), [tuningSeed], flags, signal);
  else await measure(study, world ? [world] : worldsOf(study, flags), flags, signal);
  if (!world) await writePage(study, flags);
});

/** Plays every row in every world, except what has been played. */
async function measure(
  study: Study,
  seeds: readonly number[],
  flags: LeaderboardFlags,
  signal: AbortSignal,
): Promise<void> {
  const { count = testQuestionsOf(study) } = flags;
  const known = await readResults<Result>(flags.results);
  const setting = { policy: await digestOf(study.policy), count };
  const isMissing = (row: Row, seed: number) => {
    const experiment = experimentOf(study, row, seed, setting);
    return !known.some((result) => isOf(result, experiment));
  };
  const chosen = chosenRows(study, flags.rows);
  const missing = seeds.map((seed) => ({ seed, rows: chosen.filter((row) => isMissing(row, seed)) }));
  if (flags.atOnce === 1) {
    for (const { seed, rows } of missing) await playInWorld(seed, rows, study, setting, flags, signal);
    return;
  }
  const own = { ...flags, threads: flags.threads ?? 1, atOnce: 1 };
  const jobs = missing.flatMap(({ seed, rows }) =>
    rows.map(({ name }) => {
      const world = flags.tune ? undefined : seed;
      return () => runAgain({ ...own, rows: name, world }, signal);
    }),
  );
  await atOnce(flags.atOnce, jobs);
}

async function playInWorld(
  seed: number,
  rows: readonly Row[],
  study: Study,
  setting: Setting,
  flags: LeaderboardFlags,
  signal: AbortSignal,
): Promise<void> {
  if (rows.length === 0) return;
  const { count } = setting;
  const worlds = await openDatasets([...new Set([...study.trainsOn, ...study.scoredOn])], seed, {
    maxTurns: study.maxTurns,
    search: searchOf(study),
  });
  try {
    for (const [index, row] of rows.entries()) {
      const place = `row ${index + 1} of ${rows.length}`;
      process.stdout.write(`${study.name}: ${row.name}, seed ${seed}, ${place}\n`);
      const begun = performance.now();
      const experiment = experimentOf(study, row, seed, setting);
      const means = { ...flags, out: join(flags.work, folderOf(experiment)) };
      const played = await playRow(row, study, worlds, { count, seed, signal }, means);
      const seconds = Math.round((performance.now() - begun) / 1000);
      await appendResult(flags.results, { ...experiment, seconds, ...played, commit: commit() });
      const scores = Object.entries(played.scores).map(([name, { em }]) => `${name} ${em.toFixed(3)}`);
      process.stdout.write(`  EM ${scores.join(', ')}, in ${timeText(seconds)}\n`);
    }
  } finally {
    await closeDatasets(worlds);
  }
}

/** The page of all results of the study, from this command or an earlier one. */
async function writePage(study: Study, flags: LeaderboardFlags): Promise<void> {
  const known = await readResults<Result>(flags.results);
  const setting = { policy: await digestOf(study.policy), count: flags.count ?? testQuestionsOf(study) };
  const results = resultsOf(study, worldsOf(study, flags), setting, known);
  const tuning = resultsOf(tuningOf(study), [tuningSeed], setting, known);
  const name = join(flags.out, study.name);
  await mkdir(flags.out, { recursive: true });
  await writeAtomic(`${name}.md`, pageOf(study, results, tuning));
  const [price] = study.prices ?? [];
  const rows = price === undefined ? summarise(study, results) : rowsAt(study, results, price);
  await writeAtomic(`${name}.svg`, barChart(study, rows));
  if (study.prices) await writeAtomic(`${name}-curve.svg`, priceCurve(study, results));
  process.stdout.write(`The page is ${name}.md.\n`);
}

/** The seeds of the worlds that every row is played in. */
function worldsOf({ worlds = 5 }: Study, { seeds = worlds }: LeaderboardFlags): number[] {
  return Array.from({ length: seeds }, (_, index) => index + 1);
}

/** @throws ToolEnvError `usage.bad_flag` for an unknown row. */
function chosenRows({ rows }: Study, names: string): readonly Row[] {
  if (names === '') return rows;
  const chosen = names.split(',').map((name) => name.trim());
  const unknown = chosen.find((name) => !rows.some((row) => row.name === name));
  if (unknown === undefined) return rows.filter(({ name }) => chosen.includes(name));
  const known = rows.map(({ name }) => name).join('; ');
  throw new ToolEnvError('usage.bad_flag', `--rows: there is no row "${unknown}": choose from ${known}.`);
}
