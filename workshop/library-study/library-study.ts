/**
 * `npm run library-study`: trains the small policy in each environment of the library, scores it on held-out tasks, and writes a page. A run that
 * exists in the file of results is not repeated, and an interrupted run resumes.
 */
import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { writeWhole } from '@toolenv/training';
import { parseFlags, runAsProcess } from 'toolenv';
import { commit } from '../leaderboard/commit.ts';
import { mostSeeds } from '../leaderboard/intervals.ts';
import { appendResult, readResults } from '../leaderboard/results.ts';
import { digestOf } from '../leaderboard/study-results.ts';
import { type EnvironmentName, environmentNames, unseenNames } from './environments.ts';
import { pageOf } from './page.ts';
import { playRow } from './play-row.ts';
import { type Result, type RowName, rowNames } from './results.ts';

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
    policy: {
      type: 'string',
      default: 'runs/tiny-policy/library/policy',
      description: 'folder of the small policy',
    },
    seeds: {
      type: 'integer',
      minimum: 1,
      maximum: mostSeeds,
      default: 3,
      description: 'runs of each row, in environments that the policy has seen',
    },
    steps: { type: 'integer', minimum: 1, default: 60, description: 'updates of a run' },
    count: { type: 'integer', minimum: 1, default: 200, description: 'test tasks of each environment' },
    threads: {
      type: 'integer',
      minimum: 1,
      description: 'CPU threads per operation (default: one per core)',
    },
    results: {
      type: 'string',
      default: 'docs/benchmarks/library.jsonl',
      description: 'file of the finished runs, which are not repeated',
    },
    page: { type: 'string', default: 'docs/benchmarks/library.md', description: 'file of the page' },
    work: { type: 'string', default: 'runs/library-study', description: 'folder of the runs' },
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
  const results = await readResults<Result>(file);
  const stepsOf = (row: RowName) => (row === 'Start' ? 0 : steps);
  const ofStudy = (result: Result) => result.policy === policy && result.steps === stepsOf(result.row);
  for (let seed = 1; seed <= flags.seeds; seed++) {
    for (const environment of flags.environments as EnvironmentName[]) {
      if (seed > seedsOf(environment, flags.seeds)) continue;
      for (const row of rowsOf(environment).filter((name) => flags.rows.includes(name))) {
        const isKnown = (each: Result) =>
          ofStudy(each) && each.environment === environment && each.row === row && each.seed === seed;
        if (results.some(isKnown)) continue;
        const played = await playRow(environment, row, seed, { ...flags, signal });
        const run = { environment, row, seed, steps: stepsOf(row), policy };
        const result: Result = { ...run, ...played, commit: commit() };
        await appendResult(file, result);
        results.push(result);
        console.log(textOf(result));
      }
    }
  }
  await mkdir(dirname(page), { recursive: true });
  await writeWhole(page, pageOf(results.filter(ofStudy)));
  console.log(`The page is ${page}.`);
});

/** Demonstrations exist for environments that the policy has seen. In the others, the rows ask what rewards alone teach. */
function rowsOf(environment: EnvironmentName): readonly RowName[] {
  return isUnseen(environment)
    ? ['Start', 'All right answers', 'GRPO with shuffled rewards', 'GRPO']
    : ['Start', 'SFT on demonstrations', 'GRPO'];
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
