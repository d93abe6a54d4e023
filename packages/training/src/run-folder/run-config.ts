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
