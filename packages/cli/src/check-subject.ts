/** What `toolenv check` is given, and the checks that belong to it. */
import { existsSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type EnvDefinition, findPlugin, listPlugins, type PluginKind, ToolEnvError } from '@toolenv/core';
import { checkEnv, type Report, type RuleId } from '@toolenv/core/testing';
import { readPairs } from './schema-flags.ts';

export interface SubjectOptions {
  seed: number;
  actions: number;
  /** Milliseconds. */
  patience: number;
  /** `key=value` options of an environment or a policy. */
  pairs: readonly string[];
  /** What a tool is made from. */
  material: unknown;
  skip: readonly RuleId[];
  signal: AbortSignal;
}

/**
 * The reports on a subject, one by one.
 * @throws ToolEnvError `usage.*` if there is no such subject, or it cannot be checked as it is given.
 */
export async function* checkSubject(
  subject: string,
  options: SubjectOptions,
): AsyncGenerator<Report, void, void> {
  if (existsSync(subject)) yield* checkPath(resolve(subject), options);
  else yield* checkReference(subject, options);
}

async function* checkReference(ref: string, options: SubjectOptions): AsyncGenerator<Report, void, void> {
  const kind = listPlugins().find((plugin) => plugin.ref === ref)?.kind ?? 'envs';
  yield* checkPlugin(kind, ref, options);
}

async function* checkPlugin(
  kind: PluginKind,
  ref: string,
  options: SubjectOptions,
): AsyncGenerator<Report, void, void> {
  if (kind !== 'envs') throw new ToolEnvError('usage.check', `${ref} is not an environment.`);
  const { plugin } = await findPlugin('envs', ref);
  yield await checkEnv(ref, {
    ...options,
    options: readPairs(plugin.options, options.pairs, '--option', ref),
  });
}

async function* checkPath(path: string, options: SubjectOptions): AsyncGenerator<Report, void, void> {
  if (statSync(path).isFile()) yield await checkModule(path, options);
}

/** A module whose default export is the definition of an environment. */
async function checkModule(path: string, options: SubjectOptions): Promise<Report> {
  const { default: definition } = (await import(pathToFileURL(path).href)) as { default?: EnvDefinition };
  if (typeof definition?.open !== 'function' || definition.rewards === undefined) {
    throw new ToolEnvError('usage.check', `${path} has no environment as its default export: use defineEnv.`);
  }
  return checkEnv(definition, {
    ...options,
    options: readPairs(definition.options, options.pairs, '--option', definition.name),
  });
}
