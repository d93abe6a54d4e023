/** What `toolenv check` is given, and the checks that belong to it. */
import { existsSync, readFileSync, statSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type EnvDefinition, ToolEnvError } from '@toolenv/core';
import {
  completeOptions,
  findPlugin,
  listPlugins,
  loadPlugin,
  type PluginKind,
  type PolicyHandle,
} from '@toolenv/core/plugins';
import {
  checkEnv,
  checkLearner,
  checkPlugin,
  checkPolicy,
  checkTool,
  checkTrajectoryFile,
  type Report,
  type RuleId,
} from '@toolenv/testing';
import { readPairs } from '../flags/schema-flags.ts';
import { openPolicy } from '../run/open-policy.ts';

export interface SubjectOptions {
  seed: number;
  /** Fuzzed actions of an environment, calls of a tool. */
  actions: number;
  /** Milliseconds. */
  timeout: number;
  /** `key=value` options of an environment or a policy. */
  pairs: readonly string[];
  /** What a tool is made from. */
  material: unknown;
  skip: readonly RuleId[];
  signal: AbortSignal;
}

type Reports = AsyncGenerator<Report, void, void>;

/**
 * The reports on a subject, one by one.
 * @throws ToolEnvError `usage.*` if there is no such subject, or it cannot be checked as it is given.
 */
export function checkSubject(subject: string, options: SubjectOptions): Reports {
  if (!existsSync(subject)) return checkReference(subject, process.cwd(), options);
  const path = resolve(subject);
  if (statSync(path).isDirectory()) return checkFolder(path, options);
  return path.endsWith('.jsonl') ? checkTrajectories(path, options) : checkModule(path, options);
}

async function* checkReference(ref: string, from: string, options: SubjectOptions): Reports {
  // What is not listed is looked for as an environment, for the error that says what there is.
  const kind = listPlugins(from).find((plugin) => plugin.ref === ref)?.kind ?? 'envs';
  yield* checkers[kind](ref, from, options);
}

const checkers: Readonly<
  Record<PluginKind, (ref: string, from: string, options: SubjectOptions) => Reports>
> = {
  async *envs(ref, from, { pairs, ...options }) {
    const { plugin } = await findPlugin('envs', ref, { from });
    yield await checkEnv(ref, {
      ...options,
      from,
      options: readPairs(plugin.options, pairs, '--option', ref),
    });
  },
  async *tools(ref, from, { actions: calls, material, ...options }) {
    const factory = await loadPlugin('tools', ref, { from });
    if (material === undefined) {
      throw new ToolEnvError(
        'usage.check',
        `${ref} is made from something: give it as JSON with --material.`,
      );
    }
    yield named(ref, await checkTool(() => factory(material), { ...options, calls }));
  },
  async *policies(ref, from, { pairs, ...options }) {
    const definition = await loadPlugin('policies', ref, { from });
    const given = readPairs(definition.options, pairs, '--option', ref);
    yield* checkOpenPolicy(
      ref,
      await definition.open(completeOptions(definition.options, given, ref)),
      options,
    );
  },
  async *trainers(ref, from, options) {
    const { folder } = await findPlugin('trainers', ref, { from });
    yield await checkPlugin(folder, options);
  },
};

/** A package with its plugins, or a checkpoint. */
async function* checkFolder(folder: string, options: SubjectOptions): Reports {
  if (existsSync(join(folder, 'config.json'))) {
    yield* checkOpenPolicy(basename(folder), await openPolicy(folder), options);
    return;
  }
  const report = await checkPlugin(folder, options);
  yield report;
  if (!report.ok) return;
  const { name } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { name: string };
  const plugins = listPlugins(folder).filter(
    // A tool needs its material, and a trainer is checked with its package.
    ({ kind, package: owner }) => owner === name && (kind === 'envs' || kind === 'policies'),
  );
  for (const { kind, ref } of plugins) {
    const pairs = await pairsFor(kind as 'envs' | 'policies', ref, folder, options.pairs);
    yield* checkers[kind](ref, folder, { ...options, pairs });
  }
}

/** Of several plugins, each is given the options that it has. */
async function pairsFor(
  kind: 'envs' | 'policies',
  ref: string,
  from: string,
  pairs: readonly string[],
): Promise<string[]> {
  const { options } = await loadPlugin(kind, ref, { from });
  const names = Object.keys((options.properties as object | undefined) ?? {});
  return pairs.filter((pair) => names.includes(pair.split('=')[0]!));
}

async function* checkOpenPolicy(
  name: string,
  { policy, learner, close }: PolicyHandle,
  options: Omit<SubjectOptions, 'pairs'>,
): Reports {
  // An action of a large model takes longer than a step of an environment.
  const timeout = Math.max(options.timeout, 60_000);
  try {
    yield named(`${name}, its policy`, await checkPolicy(policy, { ...options, timeout }));
    if (learner) yield named(`${name}, its learner`, await checkLearner(learner, { ...options, timeout }));
  } finally {
    await close();
  }
}

async function* checkTrajectories(file: string, options: SubjectOptions): Reports {
  yield await checkTrajectoryFile(file, options);
}

/** A module whose default export is the definition of an environment. */
async function* checkModule(file: string, { pairs, ...options }: SubjectOptions): Reports {
  const { default: definition } = (await import(pathToFileURL(file).href)) as { default?: EnvDefinition };
  if (typeof definition?.open !== 'function' || definition.rewards === undefined) {
    throw new ToolEnvError('usage.check', `${file} has no environment as its default export: use defineEnv.`);
  }
  const given = readPairs(definition.options, pairs, '--option', definition.name);
  yield await checkEnv(definition, { ...options, options: given });
}

function named(subject: string, report: Report): Report {
  return { ...report, subject };
}
