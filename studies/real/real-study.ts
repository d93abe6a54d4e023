/**
 * `npm run real-study`: a pretrained model learns to use tools, from demonstrations and then from rewards. A run that exists in the file of
 * results is not repeated, but takes the tests that it lacks. An interrupted run resumes.
 */
import { dirname, join } from 'node:path';
import { writeAtomic } from '@toolenv/core/files';
import type { OptionsOf } from '@toolenv/core/schemas';
import { parseFlags, runAsProcess, timeText } from 'toolenv';
import { atOnce } from '../../workshop/at-once.ts';
import { commit } from '../../workshop/commit.ts';
import { text, whole } from '../../workshop/flags.ts';
import { pythonWith } from '../../workshop/interop/python-environment.ts';
import { machineText } from '../../workshop/machine-text.ts';
import { makeModelFolder, modelFolder } from '../../workshop/real-model/model-folder.ts';
import { runAgain } from '../../workshop/run-node.ts';
import { maxSeeds, mean } from '../shared/intervals.ts';
import { appendResult, readResults } from '../shared/result-file.ts';
import { environments } from './environments.ts';
import { figureFile, figureOf } from './figure.ts';
import { pageOf } from './page.ts';
import { type Means, playRow, testsOf, trainRow } from './play-row.ts';
import { keyOf, newest, type Played, type Result, usualSteps } from './results.ts';
import { rowOf, rows, seedOf } from './rows.ts';
import { testKinds } from './test-kinds.ts';

const schema = {
  type: 'object',
  properties: {
    environments: {
      type: 'array',
      items: { enum: Object.keys(environments) },
      default: Object.keys(environments),
      description: 'environments to train in',
    },
    rows: {
      type: 'array',
      items: { enum: rows.map(({ name }) => name) },
      default: ['Pretrained', 'Supervised', 'GRPO'],
      description: 'rows to measure',
    },
    seeds: whole('runs of each row', { maximum: maxSeeds, default: 1 }),
    steps: whole('updates of a run', { default: usualSteps }),
    count: whole('most tasks of a test (default: 200; 1,319 of GSM8K, 100 of HotpotQA and of MuSiQue)'),
    data: {
      type: 'string',
      description:
        'folder with gsm8k/train.jsonl and gsm8k/test.jsonl, multihop/hotpotqa_train.json and multihop/musique_train.json: published problems and questions',
    },
    runtime: text('library that computes the model: libtorch or onnx', 'libtorch'),
    precision: text('precision of products', 'auto'),
    threads: whole('CPU threads per operation (default: one per core, or 1 with at-once)'),
    atOnce: whole('runs to measure at once', { default: 1 }),
    seed: whole('measure the runs of this seed only', { maximum: maxSeeds }),
    results: text('file of the finished runs, which are not repeated', 'docs/benchmarks/real-study.jsonl'),
    page: text('file of the page', 'docs/benchmarks/real-model.md'),
    work: text('folder of the runs', 'runs/real-study'),
  },
} as const;

type Flags = OptionsOf<typeof schema>;

await runAsProcess(async (signal) => {
  const flags = await parseFlags(schema, {
    name: 'real-study',
    description:
      'Trains SmolLM2-135M-Instruct in each environment, from demonstrations and from rewards, and scores it on held-out tasks.',
    argv: process.argv.slice(2),
  });
  if (!flags) return;
  makeModelFolder();
  // The commands find libtorch in this Python.
  if (flags.runtime === 'libtorch') process.env.TOOLENV_PYTHON = pythonWith('transformers');
  const known = newest(await readResults<Result>(flags.results));
  const missing = runsOf(flags).filter((run) => {
    const result = known.find((each) => keyOf(each) === keyOf({ ...run, steps: flags.steps }));
    return !result || lacksTests(result, meansOf(run, flags, signal));
  });
  if (flags.atOnce > 1) {
    await trainStarts(missing, flags, signal);
    const own = { ...flags, threads: flags.threads ?? 1, atOnce: 1 };
    const jobs = missing.map(({ environment, row, seed }) => {
      return () => runAgain({ ...own, environments: environment, rows: row, seed }, signal);
    });
    await atOnce(flags.atOnce, jobs);
  } else for (const run of missing) await measure(run, flags, signal);
  if (flags.seed !== undefined) return;
  const results = newest(await readResults<Result>(flags.results));
  await writeAtomic(flags.page, pageOf(results, await testKinds()));
  for (const name of Object.keys(environments)) {
    const figure = figureOf(name, results);
    if (figure) await writeAtomic(join(dirname(flags.page), figureFile(name)), figure);
  }
  console.log(`The page is ${flags.page}.`);
});

type Run = Pick<Result, 'environment' | 'row' | 'seed'>;

/** Trains the policies that several runs begin with, so that no two runs train them at once. */
async function trainStarts(runs: readonly Run[], flags: Flags, signal: AbortSignal): Promise<void> {
  for (const run of runs) {
    const { from, name } = rowOf(run.row);
    const start = rowOf(from ?? name);
    if (start.train)
      await trainRow(environments[run.environment]!, start, run.seed, meansOf(run, flags, signal));
  }
}

function meansOf({ environment }: Run, flags: Flags, signal: AbortSignal): Means {
  return { ...flags, model: modelFolder, work: join(flags.work, environment), signal };
}

/** Whether tests were added since, or have more tasks. */
function lacksTests({ environment, tests }: Result, means: Means): boolean {
  return testsOf(environments[environment]!, means).some(([name, { count }]) => {
    const [values] = Object.values(tests[name] ?? {});
    return (values?.length ?? 0) < Math.min(count, means.count ?? count);
  });
}

async function measure(run: Run, flags: Flags, signal: AbortSignal): Promise<void> {
  const means = meansOf(run, flags, signal);
  const played = await playRow(environments[run.environment]!, rowOf(run.row), run.seed, means);
  const { steps, threads } = flags;
  const result: Result = { ...run, steps, ...played, machine: machineText(threads), commit: commit() };
  await appendResult(flags.results, result);
  console.log(
    `${run.environment}, ${run.row}, seed ${run.seed}: ${scoresText(run, played)}, trained in ${timeText(played.seconds)}`,
  );
}

/** `0.285 of 200 test tasks, 0.010 of 200 harder tasks`. */
function scoresText({ environment }: Run, { tests }: Played): string {
  const [score] = environments[environment]!.components;
  return Object.entries(tests)
    .map(([test, { [score]: values }]) => `${mean(values!).toFixed(3)} of ${values!.length} ${test}`)
    .join(', ');
}

/** The chosen runs. All rows of the first seed come before those of the second. */
function runsOf({ environments: chosen, rows: names, seeds, seed: only }: Flags): Run[] {
  const seedsOf = only === undefined ? Array.from({ length: seeds }, (_, index) => index + 1) : [only];
  return seedsOf.flatMap((seed) =>
    chosen.flatMap((environment) =>
      names
        .filter((row) => rowOf(row).environments?.includes(environment) ?? true)
        .filter((row) => seedOf(rowOf(row), seed) === seed || only !== undefined)
        .map((row) => ({ environment, row, seed })),
    ),
  );
}
