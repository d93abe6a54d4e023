/** Finds a recorded run: the folder of a training run or of an evaluation, or a file of episodes. */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { messageOf, ToolEnvError } from '@toolenv/core';

/** What config.json of a training run, or summary.json or evaluation.json of an evaluation, says. Folders of other versions lack fields. */
export interface RunFacts {
  env?: string;
  policy?: string;
  policyOptions?: Record<string, unknown>;
  trainer?: string;
  trainerOptions?: Record<string, unknown>;
  seed?: number;
  /** Versions of the packages, by name. */
  packages?: Record<string, unknown>;
  [field: string]: unknown;
}

export interface RecordedRun {
  /** Absent for a file that lies in no run's folder. */
  folder?: string;
  /** `episodes`: show only the file. */
  kind: 'training' | 'evaluation' | 'episodes';
  facts: RunFacts;
  /** JSONL of trajectories; absent if the run kept none. */
  episodes?: string;
}

/** What is evaluated, in the folder of an evaluation that has not ended too. */
const evaluationFile = 'evaluation.json';

/** @throws ToolEnvError `usage.no_run` if the path does not exist or is not a run. */
export function findRecordedRun(path: string): RecordedRun {
  if (!existsSync(path)) {
    const message = `${path} does not exist: give a run folder or a file of trajectories.`;
    throw new ToolEnvError('usage.no_run', message);
  }
  const full = resolve(path);
  if (!statSync(full).isDirectory()) {
    const folder = basename(full) === 'trajectories.jsonl' ? dirname(full) : undefined;
    const facts = folder === undefined ? {} : (factsOf(folder)?.facts ?? {});
    return { folder, kind: 'episodes', facts, episodes: full };
  }
  const file = join(full, 'trajectories.jsonl');
  const episodes = existsSync(file) ? file : undefined;
  const found = factsOf(full) ?? (episodes && { kind: 'episodes' as const, facts: {} });
  if (found) return { folder: full, ...found, episodes };
  const runs = runsIn(path);
  const message =
    runs.length > 0
      ? `${path} holds runs: give one of them, ${runs.slice(0, 5).join(' or ')}${runs.length > 5 ? ' or another' : ''}.`
      : `${path} is not a run folder: it has no trajectories.jsonl and no metrics.jsonl.`;
  throw new ToolEnvError('usage.no_run', message);
}

/** The runs in a folder, such as those of the policies that `toolenv eval` compares. */
function runsIn(path: string): string[] {
  const folders = readdirSync(path, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  return folders
    .map(({ name }) => join(path, name))
    .filter((folder) => factsOf(folder))
    .sort();
}

function factsOf(folder: string): Pick<RecordedRun, 'kind' | 'facts'> | undefined {
  const [config, summary] = ['config.json', 'summary.json'].map((name) => join(folder, name));
  // A Hugging Face folder has a config.json too.
  const facts = isFile(config!) ? readJson(config!) : undefined;
  if (facts?.env !== undefined || existsSync(join(folder, 'metrics.jsonl')))
    return { kind: 'training', facts: withResolved(facts ?? {}) };
  const evaluation = [summary!, join(folder, evaluationFile)].find(isFile);
  if (evaluation === undefined) return undefined;
  // The scores of single tasks are in the episodes too.
  const { tasks: _, ...evaluated }: RunFacts = Object(readJson(evaluation));
  return { kind: 'evaluation', facts: evaluated };
}

/** The options as the trainer used them: also those that it chose itself. */
function withResolved({ resolvedOptions, trainerOptions, ...facts }: RunFacts): RunFacts {
  if (resolvedOptions === undefined && trainerOptions === undefined) return facts;
  return { ...facts, trainerOptions: { ...Object(resolvedOptions), ...trainerOptions } };
}

/** Not for a pipe, of which a read waits for ever. */
function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}

function readJson(file: string): RunFacts {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as RunFacts;
  } catch (error) {
    const message = `${file} is damaged (${messageOf(error)}): show the run's trajectories.jsonl.`;
    throw new ToolEnvError('usage.no_run', message, { cause: error });
  }
}
