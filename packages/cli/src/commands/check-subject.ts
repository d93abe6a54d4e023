/** Runs the checks for the kind of subject that `toolenv check` was given. */
import { basename } from 'node:path';
import type { EnvDefinition } from '@toolenv/core';
import { completeOptions, findPlugin, loadPlugin, type PluginKind } from '@toolenv/core/plugins';
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
import { findSubject, importEnv, packagePlugins } from '../subject/find-subject.ts';

export interface SubjectOptions {
  seed: number;
  /** Fuzzed actions of an environment, calls of a tool. */
  actions: number;
  /** Milliseconds. */
  timeout: number;
  /** `key=value` options of an environment, a policy or a trainer. */
  pairs: readonly string[];
  /** Options of an environment that its flags set. */
  envOptions: Record<string, unknown>;
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
export function checkSubject(name: string, options: SubjectOptions): Reports {
  const subject = findSubject(name);
  switch (subject.type) {
    case 'plugin':
      return checkers[subject.kind](subject.ref, process.cwd(), options);
    case 'package':
      return checkPackage(subject.folder, options);
    case 'checkpoint':
      return checkCheckpoint(subject.folder, options);
    case 'trajectories':
      return checkTrajectories(subject.file, options);
    case 'module':
      return checkModule(subject.file, options);
  }
}

const checkers: Readonly<
  Record<PluginKind, (ref: string, from: string, options: SubjectOptions) => Reports>
> = {
  async *envs(ref, from, options) {
    const { plugin } = await findPlugin('envs', ref, { from });
    yield await checkEnv(ref, { ...options, from, options: envOptions(plugin, options) });
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

async function* checkCheckpoint(folder: string, options: SubjectOptions): Reports {
  const { ref, preset } = policyReference(folder);
  yield* checkPolicyPlugin(basename(folder), ref, process.cwd(), options, preset);
}

/** A package with its plugins. */
async function* checkPackage(folder: string, options: SubjectOptions): Reports {
  const report = await checkPlugin(folder, options);
  yield report;
  if (!report.ok) return;
  const plugins = packagePlugins(folder);
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
  const policy = await definition.open(complete, { seed: options.seed });
  const { learner } = policy;
  // An action of a large model takes longer than a step of an environment.
  const timeout = Math.max(options.timeout, 60_000);
  try {
    yield named(`${name}, its policy`, await checkPolicy(policy, { ...options, timeout }));
    if (learner) yield named(`${name}, its learner`, await checkLearner(learner, { ...options, timeout }));
  } finally {
    await policy.close();
  }
}

async function* checkTrajectories(file: string, options: SubjectOptions): Reports {
  yield await checkTrajectoryFile(file, options);
}

async function* checkModule(file: string, options: SubjectOptions): Reports {
  const definition = await importEnv(file);
  yield await checkEnv(definition, { ...options, options: envOptions(definition, options) });
}

function envOptions(
  { options }: EnvDefinition,
  { pairs, envOptions }: SubjectOptions,
): Record<string, unknown> {
  return { ...readPairs(options, pairs, '--option'), ...envOptions };
}

function named(subject: string, report: Report): Report {
  return { ...report, subject };
}
