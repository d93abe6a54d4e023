/**
 * `npm run library-study`: trains the small policy in each environment of the library, scores it on held-out tasks, and writes a page. A run that
 * exists in the file of results is not repeated, and an interrupted run resumes.
 */
import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { writeAtomic } from '@toolenv/core/files';
import type { OptionsOf } from '@toolenv/core/schemas';
import { parseFlags, runAsProcess } from 'toolenv';
import { atOnce } from '../../workshop/at-once.ts';
import { commit } from '../../workshop/commit.ts';
import { text, whole } from '../../workshop/flags.ts';
import { runAgain } from '../../workshop/run-node.ts';
import { digestOf } from '../shared/digest.ts';
import { maxSeeds } from '../shared/intervals.ts';
import { appendResult, readResults } from '../shared/result-file.ts';
import { type EnvironmentName, environmentNames, unseenNames } from './environments.ts';
import { pageOf } from './page.ts';
import { playRow } from './play-row.ts';
import { isTrained, type Result, type RowName, rowNames } from './results.ts';

const schema = {
  type: 'object',
  properties: {
    environments: {
      type: 'array',
      items: { enum: environmentNames },
      default: environmentNames,
      description: 'environments to train in',
    },
    rows: { type: 'array', items: { enum: rowNames }, default: rowNames, description: 'rows to measure' },
    policy: text('folder of the small policy', 'packages/checkpoints/small'),
    supervised: text('policy of the row "Best supervised phase"', 'runs/tiny-policy/library/skills/policy'),
    seeds: whole('runs of each row, in environments that the policy has seen', {
      maximum: maxSeeds,
      default: 3,
    }),
    steps: whole('updates of a run', { default: 20 }),
    count: whole('test tasks of each environment', { default: 200 }),
    threads: whole('CPU threads per operation (default: one per core, or 1 with at-once)'),
    atOnce: whole('runs to measure at once: as many as cores is fastest', { default: 1 }),
    seed: whole('measure the runs of this seed only, and write no page', { maximum: maxSeeds }),
    results: text('file of the finished runs, which are not repeated', 'docs/benchmarks/library.jsonl'),
    page: text('file of the page', 'docs/benchmarks/library.md'),
    work: text('folder of the runs', 'runs/library-study'),
  },
} as const;

await runAsProcess(async (signal) => {
  const flags = await parseFlags(schema, {
    name: 'library-study',
    description: 'Trains the small policy in each environment, and writes a page.',
    argv: process.argv.slice(2),
  });
  if (!flags) return;
  const { steps, results: file, page } = flags;
  const policy = await digestOf(flags.policy);
  const stepsOf = (row: RowName) => (isTrained(row) ? steps : 0);
  const ofStudy = (result: Result) => result.policy === policy && result.steps === stepsOf(result.row);
  const known = (await readResults<Result>(file)).filter(ofStudy);
  const missing = runsOf(flags).filter(
    ({ environment, row, seed }) =>
      !known.some((each) => each.environment === environment && each.row === row && each.seed === seed),
  );
  if (flags.atOnce > 1) {
    const own = { ...flags, threads: flags.threads ?? 1, atOnce: 1 };
    const jobs = missing.map(({ environment, row, seed }) => {
      return () => runAgain({ ...own, environments: environment, rows: row, seed }, signal);
    });
    await atOnce(flags.atOnce, jobs);
  } else {
    for (const { environment, row, seed } of missing) {
      const played = await playRow(environment, row, seed, { ...flags, signal });
      const run = { environment, row, seed, steps: stepsOf(row), policy };
      const result: Result = { ...run, ...played, commit: commit() };
      await appendResult(file, result);
      console.log(textOf(result));
    }
  }
  if (flags.seed !== undefined) return;
  await mkdir(dirname(page), { recursive: true });
  await writeAtomic(page, pageOf((await readResults<Result>(file)).filter(ofStudy)));
  console.log(`The page is ${page}.`);
});

type Run = Pick<Result, 'environment' | 'row' | 'seed'>;

/** The chosen runs, all environments with the first seed before the second. */
function runsOf({ environments: chosen, rows, seeds, seed: only }: OptionsOf<typeof schema>): Run[] {
  const all = Array.from({ length: seeds }, (_, index) => index + 1);
  return (only === undefined ? all : [only]).flatMap((seed) =>
    (chosen as EnvironmentName[])
      .filter((environment) => seed <= seedsOf(environment, seeds))
      .flatMap((environment) => {
        const own = rowsOf(environment).filter((row) => rows.includes(row));
        return own.map((row) => ({ environment, row, seed }));
      }),
  );
}

/** Demonstrations exist for environments that the policy has seen. In the others, the rows ask what rewards alone teach. */
function rowsOf(environment: EnvironmentName): readonly RowName[] {
  return isUnseen(environment)
    ? ['Start', 'All right answers', 'GRPO with shuffled rewards', 'GRPO']
    : ['Start', 'Best supervised phase', 'SFT on demonstrations', 'GRPO'];
}

/** An environment that the policy has not seen has one run: a gate, which decides whether it is worth more. */
function seedsOf(environment: EnvironmentName, seeds: number): number {
  return isUnseen(environment) ? 1 : seeds;
}

function isUnseen(environment: EnvironmentName): boolean {
  return unseenNames.some((name) => name === environment);
}

function textOf({ environment, row, seed, greedy, sampled, seconds }: Result): string {
  const scores = [greedy, sampled].map(({ all, leftOut }) => `${all.toFixed(3)} (${leftOut?.toFixed(3)})`);
  return `${environment}, ${row}, seed ${seed}: greedy ${scores[0]}, sampled ${scores[1]}, left-out goals in brackets; ${seconds} s`;
}
