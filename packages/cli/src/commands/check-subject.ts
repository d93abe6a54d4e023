/** Finds out what kind of subject `toolenv check` was given, and runs the checks for it. */
import { existsSync, readFileSync, statSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type EnvDefinition, ToolEnvError } from '@toolenv/core';
import { completeOptions, findPlugin, listPlugins, loadPlugin, type PluginKind } from '@toolenv/core/plugins';
import {
  type CheckEnvOptions,
  type CheckOptions,
  checkEnv,
  checkLearner,
  checkPlugin,
  checkPolicy,
  checkTool,
  checkTrainer,
  checkTrajectoryFile,
  type Report,
  type RuleId,
} from '@toolenv/testing';
import { policyReference } from '../flags/plugin-flags.ts';
import { readPairs } from '../flags/schema-flags.ts';

export interface SubjectOptions {
  seed: number;
  /** Fuzzed actions of an environment, calls of a tool. */
  actions: number;
  /** Milliseconds. */
  timeout: number;
  /** `key=value` options of an environment, a policy or a trainer. */
  pairs: readonly string[];
  /** The material that the tool is made from, in place of that of its example. */
  material: unknown;
  skip: readonly RuleId[];
  signal: AbortSignal;
  onRules: NonNullable<CheckOptions['onRules']>;
  onActions: NonNullable<CheckEnvOptions['onActions']>;
}

type Reports = AsyncGenerator<Report, void, void>;

/**
 * The reports on a subject, one after another.
 * @throws ToolEnvError `usage.*` if the subject does not exist or lacks something that its check needs.
 */
export function checkSubject(subject: string, options: SubjectOptions): Reports {
  if (!existsSync(subject)) return checkReference(subject, process.cwd(), options);
  const path = resolve(subject);
  if (statSync(path).isDirectory()) return checkFolder(path, options);
  return path.endsWith('.jsonl') ? checkTrajectories(path, options) : checkModule(path, options);
}

async function* checkReference(ref: string, from: string, options: SubjectOptions): Reports {
  // An unknown reference counts as an environment: the error then lists the environments that exist.
  const kind = listPlugins(from).find((plugin) => plugin.ref === ref)?.kind ?? 'envs';
  yield* checkers[kind](ref, from, options);
}

const checkers: Readonly<
  Record<PluginKind, (ref: string, from: string, options: SubjectOptions) => Reports>
> = {
  async *envs(ref, from, { pairs, ...options }) {
    const { plugin } = await findPlugin('envs', ref, { from });
    yield await checkEnv(ref, { ...options, from, options: readPairs(plugin.options, pairs, '--option') });
  },
  async *tools(ref, from, { actions: calls, material, ...options }) {
    const plugin = await loadPlugin('tools', ref, { from });
    const tool = material === undefined ? plugin : () => plugin.create(material);
    yield named(ref, await checkTool(tool, { ...options, calls }));
  },
  async *policies(ref, from, options) {
    yield* checkPolicyPlugin(ref, ref, from, options);
  },
  async *trainers(ref, from, { pairs, ...options }) {
    const trainer = await loadPlugin('trainers', ref, { from });
    const given = readPairs(trainer.options, pairs, '--option');
    yield named(ref, await checkTrainer(trainer, { ...options, options: given }));
  },
};

/** A package with its plugins, or a checkpoint. */
async function* checkFolder(folder: string, options: SubjectOptions): Reports {
  if (existsSync(join(folder, 'config.json'))) {
    const { ref, preset } = policyReference(folder);
    yield* checkPolicyPlugin(basename(folder), ref, process.cwd(), options, preset);
    return;
  }
  const report = await checkPlugin(folder, options);
  yield report;
  if (!report.ok) return;
  const { name } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { name: string };
  const plugins = listPlugins(folder).filter(({ package: owner }) => owner === name);
  for (const { kind, ref } of plugins) {
    const pairs = await pairsFor(kind, ref, folder, options.pairs);
    yield* checkers[kind](ref, folder, { ...options, pairs });
  }
}

/** The pairs that are options of this plugin, because all plugins of a package are checked with one command line. */
async function pairsFor(
  kind: PluginKind,
  ref: string,
  from: string,
  pairs: readonly string[],
): Promise<string[]> {
  if (kind === 'tools') return [];
  const { options } = await loadPlugin(kind, ref, { from });
  const names = Object.keys((options.properties as object | undefined) ?? {});
  return pairs.filter((pair) => names.includes(pair.split('=')[0]!));
}

async function* checkPolicyPlugin(
  name: string,
  ref: string,
  from: string,
  { pairs, ...options }: SubjectOptions,
  preset: Record<string, unknown> = {},
): Reports {
  const definition = await loadPlugin('policies', ref, { from });
  const given = { ...readPairs(definition.options, pairs, '--option'), ...preset };
  const complete = completeOptions(definition.options, given, ref);
  const handle = await definition.open(complete, { seed: options.seed });
  const { policy, learner } = handle;
  // An action of a large model takes longer than a step of an environment.
  const timeout = Math.max(options.timeout, 60_000);
  try {
    yield named(`${name}, its policy`, await checkPolicy(policy, { ...options, timeout }));
    if (learner) yield named(`${name}, its learner`, await checkLearner(learner, { ...options, timeout }));
  } finally {
    await handle.close();
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
  const given = readPairs(definition.options, pairs, '--option');
  yield await checkEnv(definition, { ...options, options: given });
}

function named(subject: string, report: Report): Report {
  return { ...report, subject };
}
