/** config.json of a run: what it trains, with which options and versions. */
import { execFile } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { EnvHandle, OpenedEnv, Policy, RewardSpec } from '@toolenv/core';
import { refuseLostFolder, writeAtomic } from '@toolenv/core/files';
import { findPackage, listPlugins, type PolicyHandle } from '@toolenv/core/plugins';
import { jsonWithoutSecrets } from '@toolenv/core/secrets';
import { readJson } from './read-json.ts';
import { type Changes, differences, undo, valuesOf } from './run-differences.ts';
import { readRecords } from './run-log.ts';

/**
 * What a resumed run must have in common with the earlier run, except the trainer's options whose schema says `mayChange`.
 * Values are JSON.
 */
export interface RunIdentity {
  /** Reference of the environment, or its name; absent without an environment. */
  env?: string;
  /** `identity` of the environment, such as the digest of an agent's code, and the texts that replace its open texts. */
  envIdentity?: Readonly<Record<string, unknown>>;
  /** The environment's own options, if `openEnv` opened it. */
  envOptions?: Readonly<Record<string, unknown>>;
  /** Role → tool, if `openEnv` opened the environment. */
  tools?: Readonly<Record<string, string>>;
  policy: string;
  /** Commit of the model, if it was fetched from a repository. */
  revision?: string;
  /** Reference of the trainer, or its name. */
  trainer: string;
  trainerOptions: Readonly<Record<string, unknown>>;
  seed: number;
  [more: string]: unknown;
}

export function runIdentity(
  env: EnvHandle<unknown> | undefined,
  policy: Policy,
  run: Pick<RunIdentity, 'trainer' | 'trainerOptions' | 'seed'>,
): RunIdentity {
  const { revision } = policy as PolicyHandle;
  const { options, tools } = (env ?? {}) as Partial<OpenedEnv<unknown>>;
  const { identity, prompts } = env ?? {};
  // Also if no text is replaced, so that a run with other texts cannot go on without them.
  const ofEnv = prompts ? { prompts: {}, ...identity } : identity;
  return {
    env: env && envName(env),
    ...(ofEnv && { envIdentity: ofEnv }),
    envOptions: options,
    tools,
    policy: policy.spec.name,
    ...(revision !== undefined && { revision }),
    ...run,
  };
}

export function envName(env: EnvHandle<unknown>): string {
  return env.ref ?? env.episode().spec.name;
}

/** What a resumed run may have otherwise, so that a fix of a bug can rescue a long run: changes.jsonl records it. */
export interface RunVersions {
  envVersion?: string;
  /** The components of the environment's reward, which diagnoses need. */
  rewardSpec?: RewardSpec;
  node: string;
  /** Versions of @toolenv/core, @toolenv/training and the packages with plugins that are installed. */
  packages: Record<string, string>;
  /** The git commit of the working folder, with `-dirty` if tracked files have changed since. */
  commit?: string;
}

export async function runVersions(env: EnvHandle<unknown> | undefined): Promise<RunVersions> {
  const folder = process.cwd();
  const installed = found.get(folder) ?? findVersions();
  found.set(folder, installed);
  const rewardSpec = env?.episode().spec.rewards;
  return { envVersion: env?.packageVersion, rewardSpec, node: process.version, ...(await installed) };
}

type InstalledVersions = Pick<RunVersions, 'packages' | 'commit'>;

/** By working folder. A process runs the code that it has loaded, whatever is installed or committed later. */
const found = new Map<string, Promise<InstalledVersions>>();

async function findVersions(): Promise<InstalledVersions> {
  const own = ['@toolenv/core', '@toolenv/training'].map((name) => [
    name,
    findPackage(name, import.meta.dirname)?.json.version,
  ]);
  const plugins = listPlugins().map(({ package: name, version }) => [name, version]);
  return { packages: Object.fromEntries([...own, ...plugins]), commit: await commit() };
}

/** `undefined` outside a git repository, and without git. */
async function commit(): Promise<string | undefined> {
  const describe = ['describe', '--always', '--dirty', '--abbrev=40', '--exclude=*'];
  try {
    const { stdout } = await promisify(execFile)('git', describe, { timeout: 5000 });
    return stdout.trim();
  } catch {
    return undefined;
  }
}

export const configFile = 'config.json';

/**
 * `undefined` for a folder without the file.
 * @throws ToolEnvError `usage.other_run` for a damaged file.
 */
export function readConfig(out: string): Promise<Record<string, unknown> | undefined> {
  return readJson(join(out, configFile), {
    check(config) {
      if (typeof config === 'object' && config !== null && !Array.isArray(config))
        return config as Record<string, unknown>;
      throw new TypeError('it is not an object');
    },
    code: 'usage.other_run',
    remedy: 'start a run in another folder',
  });
}

export async function writeConfig(out: string, config: Readonly<Record<string, unknown>>): Promise<void> {
  await writeAtomic(join(out, configFile), `${jsonWithoutSecrets(config, 2)}\n`);
}

export async function removeConfig(out: string): Promise<void> {
  await refuseLostFolder(out);
  await rm(join(out, configFile), { force: true });
}

/** One line of changes.jsonl. */
export interface ChangesLine {
  /** The first step that was played with the new values. */
  step: number;
  changes: Changes;
}

const changesFile = 'changes.jsonl';

/**
 * The changes of a run in the order of their steps; none for a run that never changed. Undone from the last to the first,
 * they lead from config.json back to the values that the run began with.
 * @throws ToolEnvError `usage.broken_record`, naming the line.
 */
export function readChanges(out: string): Promise<ChangesLine[]> {
  return readRecords(join(out, changesFile), 'changes');
}

/**
 * Writes config.json, and how it differs from before, as a run resumes with `step`. Earlier changes from this step on had no
 * effect, because the run plays those steps again: they are dropped.
 */
export async function recordChanges(
  out: string,
  step: number,
  config: Readonly<Record<string, unknown>>,
): Promise<void> {
  const lines = await readChanges(out);
  const kept = lines.filter((line) => line.step < step);
  const dropped = lines.slice(kept.length).reverse();
  const before = dropped.reduce(
    (values, { changes }) => undo(values, changes),
    valuesOf((await readConfig(out)) ?? {}),
  );
  // Resolved options follow from the other values.
  const all = Object.entries(differences(before, valuesOf(config)));
  const changes = Object.fromEntries(all.filter(([name]) => !name.startsWith('resolvedOptions.')));
  if (Object.keys(changes).length > 0) kept.push({ step, changes });
  // First the log: if the process dies in between, the next resumed run finds the change again.
  if (kept.length > 0)
    await writeAtomic(join(out, changesFile), kept.map((line) => `${JSON.stringify(line)}\n`).join(''));
  else await rm(join(out, changesFile), { force: true });
  await writeConfig(out, config);
}
