/**
 * `npm run leaderboard`: trains and scores every row of a study on synthetic worlds, and writes its page. A run that exists in
 * the file of results is not repeated, and an interrupted run resumes.
 */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { ToolEnvError } from '@toolenv/core';
import { writeWhole } from '@toolenv/training';
import { parseFlags, runAsProcess, timeText } from 'toolenv';
import { barChart } from './chart.ts';
import { commit } from './commit.ts';
import { closeDatasets, openDatasets } from './datasets.ts';
import { searchOf } from './failing-search.ts';
import { type LeaderboardFlags, leaderboardFlags } from './flags.ts';
import { pageOf } from './page.ts';
import { playRow } from './play-row.ts';
import { atPrice } from './price-page.ts';
import { appendResult, isOf, readResults } from './results.ts';
import { type Row, type Study, studies, testQuestionsOf, tuningOf, tuningSeed } from './studies.ts';
import { digestOf, experimentOf, folderOf, resultsOf } from './study-results.ts';
import { summarise } from './summary.ts';

await runAsProcess(async (signal) => {
  const flags = await parseFlags(leaderboardFlags, {
    name: 'leaderboard',
    description: 'Trains and scores the rows of a study, and writes its page in docs/benchmarks.',
    argv: process.argv.slice(2),
  });
  if (!flags) return;
  const study = studies[flags.study];
  if (flags.tune) await measure(tuningOf(study), [tuningSeed], flags, signal);
  else await measure(study, worldsOf(study, flags), flags, signal);
  await writePage(study, flags);
});

/** Plays every row in every world, except what has been played. */
async function measure(
  study: Study,
  seeds: readonly number[],
  flags: LeaderboardFlags,
  signal: AbortSignal,
): Promise<void> {
  const { count = testQuestionsOf(study), results: file } = flags;
  const known = await readResults(file);
  const setting = { policy: await digestOf(study.policy), count };
  const rows = chosenRows(study, flags.rows);
  for (const seed of seeds) {
    const isMissing = (row: Row) => {
      const experiment = experimentOf(study, row, seed, setting);
      return !known.some((result) => isOf(result, experiment));
    };
    const missing = rows.filter(isMissing);
    if (missing.length === 0) continue;
    const worlds = await openDatasets([...new Set([...study.trainsOn, ...study.scoredOn])], seed, {
      maxTurns: study.maxTurns,
      search: searchOf(study),
    });
    try {
      for (const [index, row] of missing.entries()) {
        const place = `row ${index + 1} of ${missing.length}`;
        process.stdout.write(`${study.name}: ${row.name}, seed ${seed}, ${place}\n`);
        const begun = performance.now();
        const experiment = experimentOf(study, row, seed, setting);
        const means = { ...flags, out: join(flags.work, folderOf(experiment)) };
        const played = await playRow(row, study, worlds, { count, seed, signal }, means);
        const seconds = Math.round((performance.now() - begun) / 1000);
        await appendResult(file, { ...experiment, seconds, ...played, commit: commit() });
        const scores = Object.entries(played.scores).map(([name, { em }]) => `${name} ${em.toFixed(3)}`);
        process.stdout.write(`  EM ${scores.join(', ')}, in ${timeText(seconds)}\n`);
      }
    } finally {
      await closeDatasets(worlds);
    }
  }
}

/** The page of all results of the study, from this command or an earlier one. */
async function writePage(study: Study, flags: LeaderboardFlags): Promise<void> {
  const known = await readResults(flags.results);
  const setting = { policy: await digestOf(study.policy), count: flags.count ?? testQuestionsOf(study) };
  const results = resultsOf(study, worldsOf(study, flags), setting, known);
  const tuning = resultsOf(tuningOf(study), [tuningSeed], setting, known);
  const name = join(flags.out, study.name);
  await mkdir(flags.out, { recursive: true });
  await writeWhole(`${name}.md`, pageOf(study, results, tuning));
  const charted = study.prices ? atPrice(results, study.prices[0]!, 'scores') : results;
  await writeWhole(`${name}.svg`, barChart(study, summarise(study, charted)));
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
