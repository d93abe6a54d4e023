/** playRow: trains the pretrained model as a row says, by the command line, and scores it on held-out tasks. What exists is not made again. */
import { existsSync } from 'node:fs';
import { mkdir, readFile, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { openEnv, type Trajectory } from '@toolenv/core';
import { readJsonLines } from '@toolenv/core/files';
import { readMetrics } from '@toolenv/training';
import { conversationOf, type Line } from '../../workshop/gallery/episode-svg.ts';
import { flagsOf } from '../../workshop/run-node.ts';
import { toolenv } from '../../workshop/toolenv.ts';
import { folderName } from '../shared/folder-name.ts';
import { demonstrate } from './demonstrate.ts';
import { type EnvFiles, type EnvOptions, type RealEnvironment, type Test, testSeed } from './environments.ts';
import { ownTest, type Played, type TestValues } from './results.ts';
import { type Row, rowOf, seedOf } from './rows.ts';

export interface Means {
  /** The pretrained model's folder. */
  model: string;
  /** Folder of the environment's runs. */
  work: string;
  /** Updates of a row that begins with the policy of another. */
  steps: number;
  /** Most tasks of a test. */
  count?: number;
  /** The folder of published problems and questions. */
  data?: string;
  runtime: string;
  precision: string;
  threads?: number;
  signal: AbortSignal;
}

export async function playRow(
  environment: RealEnvironment,
  row: Row,
  seed: number,
  means: Means,
): Promise<Played> {
  if (row.train) await trainRow(environment, row, seed, means);
  const tests: Record<string, TestValues> = {};
  let own = { episodes: [] as Line[][], tokens: 0 };
  for (const [name, test] of testsOf(environment, means)) {
    const { values, ...rest } = await examine(environment, row, seed, means, name, test);
    tests[name] = values;
    if (name === ownTest) own = rest;
  }
  const course = row.train
    ? await courseOf(folderOf(means, row, seed), environment)
    : { curve: [], seconds: 0 };
  return { tests, ...own, ...course };
}

/** The environment's own test, and those of other tasks. Files of published tasks may be missing. */
export function testsOf(environment: RealEnvironment, { data }: Means): [name: string, test: Test][] {
  const others = Object.entries(environment.transfer ?? {});
  return [[ownTest, environment], ...others.filter(([, { files }]) => !files || data !== undefined)];
}

/** The folder of the policy that a row trains. */
function policyOf(means: Means, row: Row, seed: number): string {
  return row.train ? join(folderOf(means, row, seed), 'policy') : means.model;
}

function folderOf({ work }: Means, row: Row, seed: number): string {
  return join(work, folderName(row.name, seedOf(row, seed)));
}

/** Trains a row, and first the row that it begins with. */
export async function trainRow(
  environment: RealEnvironment,
  row: Row,
  given: number,
  means: Means,
): Promise<void> {
  const [out, seed] = [folderOf(means, row, given), seedOf(row, given)];
  if (await isFinished(out)) return;
  const start = row.from === undefined ? undefined : rowOf(row.from);
  if (start) await trainRow(environment, start, given, means);
  const from = start ? policyOf(means, start, given) : means.model;
  const source =
    row.learnsFrom === 'demonstrations'
      ? ['--data', await demonstrationsOf(environment, means)]
      : [
          environment.ref,
          ...optionFlags(allOptions(environment, means)),
          ...flagsOf({ maxTokens: environment.maxTokens, deadline }),
        ];
  const { runtime, precision, threads, steps } = means;
  const length = start ? { steps } : { epochs: environment.epochs };
  const flags = { ...row.train, ...length, runtime, precision, threads, seed };
  const kept = { checkpointEvery: start ? 10 : 0, keepCheckpoints: 1 };
  await toolenv(
    [
      'train',
      ...source,
      ...flagsOf({ policy: from, ...flags, ...kept, resume: existsSync(out) }),
      ...['--log-steps', '--out', out],
    ],
    means.signal,
  );
  // A checkpoint has the moments of the optimizer: three times the size of the policy.
  await rm(join(out, 'checkpoints'), { recursive: true, force: true });
}

/** The options, with the files of `--data` if it is given. */
function allOptions(
  { options, files = {} }: { options: EnvOptions; files?: EnvFiles },
  { data }: Means,
): EnvOptions {
  if (data === undefined) return options;
  const named = Object.entries(files).map(([name, file]) => [name, join(data, file)] as const);
  return { ...options, ...Object.fromEntries(named) };
}

/** Options of an environment. `--top-k 2` would be a flag of sampling. */
export function optionFlags(options: EnvOptions): string[] {
  return Object.entries(options).flatMap(([name, value]) => ['--env-option', `${name}=${value}`]);
}

async function isFinished(out: string): Promise<boolean> {
  const file = join(out, 'end.json');
  return existsSync(file) && JSON.parse(await readFile(file, 'utf8')).end === 'finished';
}

/** The file of the demonstrations that all rows share. */
async function demonstrationsOf(environment: RealEnvironment, means: Means): Promise<string> {
  const { ref, demonstrator, demonstrations: count, kindOf } = environment;
  const [score] = environment.components;
  const file = join(means.work, 'demonstrations.jsonl');
  if (existsSync(file)) return file;
  await mkdir(dirname(file), { recursive: true });
  await using env = await openEnv(ref, allOptions(environment, means));
  await demonstrate(file, env, demonstrator, { count, kindOf, score, seed: 1 });
  return file;
}

/** Milliseconds of an episode: 128 of them at once are slow on one core, which says nothing about the policy. */
const deadline = 3_600_000;

async function examine(
  environment: RealEnvironment,
  row: Row,
  seed: number,
  means: Means,
  name: string,
  test: Test,
): Promise<{ values: TestValues } & Pick<Played, 'tokens' | 'episodes'>> {
  const { runtime, precision, threads } = means;
  const out = join(means.work, 'scores', folderName(name, row.name, seed));
  const summary = join(out, 'summary.json');
  if (!existsSync(summary)) {
    // What a killed evaluation has played stays.
    const resume = existsSync(join(out, 'evaluation.json')) && row.baseline === undefined;
    if (!resume) await rm(out, { recursive: true, force: true });
    const { ref = environment.ref } = test;
    const given = allOptions(test, means);
    const options = test.ref === undefined ? { ...environment.options, ...given } : given;
    const policy = policyOf(means, row, seed);
    const { maxTokens } = environment;
    const count = Math.min(test.count, means.count ?? test.count);
    const played = {
      split: 'test',
      policy,
      count,
      maxTokens,
      seed: testSeed,
      runtime,
      precision,
      threads,
    };
    const command =
      row.baseline === undefined
        ? ['eval', ...flagsOf({ deadline, resume })]
        : ['baseline', '--kind', row.baseline];
    await toolenv([...command, ref, ...optionFlags(options), ...flagsOf(played), '--out', out], means.signal);
  }
  const { tasks, tokens } = JSON.parse(await readFile(summary, 'utf8')) as {
    tasks: { scores: Record<string, (number | null)[]> }[];
    tokens: number;
  };
  // An episode that was aborted is a failure.
  const valuesOf = (component: string) => tasks.map(({ scores }) => scores[component]?.[0] ?? 0);
  return {
    values: Object.fromEntries(environment.components.map((component) => [component, valuesOf(component)])),
    tokens: tokens / tasks.length,
    episodes: await readEpisodes(join(out, 'trajectories.jsonl')),
  };
}

async function courseOf(
  out: string,
  { components: [score] }: RealEnvironment,
): Promise<Pick<Played, 'curve' | 'seconds'>> {
  const lines = await readMetrics(out);
  const valuesOf = (kind: string, metric: string) =>
    lines.flatMap(({ type, metrics }) => (type === kind ? (metrics[metric] ?? []) : []));
  const seconds = valuesOf('update', 'step_time').reduce((sum, time) => sum + time, 0);
  return { curve: valuesOf('rollout', `rewards/${score}/mean`), seconds: Math.round(seconds) };
}

/** How many test episodes are kept to read. */
const kept = 20;

async function readEpisodes(file: string): Promise<Line[][]> {
  const byTask: Line[][] = [];
  for await (const { text } of readJsonLines(file)) {
    const trajectory = JSON.parse(text) as Trajectory;
    if (trajectory.group >= kept) continue;
    byTask[trajectory.group] = conversationOf(trajectory).filter(({ who }) => who !== 'system');
  }
  return byTask;
}
