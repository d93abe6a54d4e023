/** Runs the checks for the kind of subject that `toolenv check` was given. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { type EnvDefinition, type JsonSchema, ToolEnvError } from '@toolenv/core';
import { completeOptions, loadPlugin, type PluginKind, type PolicyDefinition } from '@toolenv/core/plugins';
import {
  type CertificateReport,
  type CheckEnvOptions,
  type CheckOptions,
  certifyEnv,
  checkEnv,
  checkLearner,
  checkPlugin,
  checkPolicy,
  checkSandbox,
  checkScorer,
  checkTool,
  checkTrainer,
  checkTrajectoryFile,
  type Learned,
  type Report,
  type RuleId,
} from '@toolenv/testing';
import type { AdvantageEstimator } from '@toolenv/training';
import { readPairs } from '../flags/schema-flags.ts';
import { trainerWithPart } from '../flags/trainer-parts.ts';
import { learningTest } from '../run/learning-test.ts';
import { openSource } from '../run/open-run.ts';
import { type AnyPlugin, findSubject, importPlugin, packagePlugins } from '../subject/find-subject.ts';
import { criticTrainer, defaultTrainer, policyReference } from '../subject/load-named.ts';
import { packedCopy } from '../subject/packed-copy.ts';

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
  /** Material for the tool, instead of the material of its example. */
  material: unknown;
  skip: readonly RuleId[];
  /** Tasks that a panel of players plays in an environment that keeps its rules; `undefined`: none, and no certificate. */
  panelTasks: number | undefined;
  /** The policy that learns in an environment for a certificate, and for how long; `undefined`: none. */
  learning: { policy: string; minutes: number } | undefined;
  onStatus(status: string, share: number): void;
  onPlayer(player: string, done: number, total: number): void;
  signal: AbortSignal;
  onRules: NonNullable<CheckOptions['onRules']>;
  onActions: NonNullable<CheckEnvOptions['onActions']>;
}

type Reports = AsyncGenerator<Report | CertificateReport, void, void>;

/**
 * The reports on a subject, one after another.
 * @throws ToolEnvError `usage.*` if the subject does not exist or lacks something that its check needs.
 */
export async function* checkSubject(name: string, options: SubjectOptions): Reports {
  const subject = findSubject(name);
  switch (subject.type) {
    case 'plugin':
      yield* checkReference(subject, process.cwd(), options);
      break;
    case 'package':
      yield* checkPackage(subject.folder, options);
      break;
    case 'checkpoint': {
      const { ref, preset } = policyReference(subject.folder);
      const policy = await loadPlugin('policies', ref);
      yield* checkPolicyPlugin(policy, basename(subject.folder), options, preset);
      break;
    }
    case 'trajectories':
      yield await checkTrajectoryFile(subject.file, options);
      break;
    case 'module':
      yield* checkAny(await importPlugin(subject.file), basename(subject.file), options);
  }
}

/** An installed plugin. Tools that an environment names are looked for from its own folder too. */
async function* checkReference(
  { kind, ref }: { kind: PluginKind; ref: string },
  from: string,
  options: SubjectOptions,
): Reports {
  const found = { kind, plugin: await loadPlugin(kind, ref, { from }) } as AnyPlugin;
  if (found.kind !== 'envs') yield* checkAny(found, ref, options);
  else yield* checkEnvironment(ref, { ...given(found.plugin, options, options.envOptions), from });
}

/** Its rules, and then its certificate: players that do none of its work say nothing of an environment that breaks rules. */
async function* checkEnvironment(
  env: string | EnvDefinition,
  options: SubjectOptions & { options: Record<string, unknown>; from?: string },
): Reports {
  const plain = typeof env === 'string' ? await checkEnv(env, options) : await checkEnv(env, options);
  yield plain;
  const { panelTasks: tasks, learning } = options;
  if (tasks === undefined || !plain.ok) return;
  const given = {
    ...options,
    tasks,
    ...(learning && { learn: () => learnIn(env, { ...options, ...learning }) }),
  };
  yield await (typeof env === 'string' ? certifyEnv(env, given) : certifyEnv(env, given));
}

async function learnIn(
  env: string | EnvDefinition,
  options: SubjectOptions & {
    options: Record<string, unknown>;
    from?: string;
    policy: string;
    minutes: number;
  },
): Promise<Learned> {
  const { seed, from } = options;
  const definition = typeof env === 'string' ? await loadPlugin('envs', env, { from }) : env;
  const opening = { seed, ...(from !== undefined && { from }) };
  const open = () => openSource({ source: env, options: options.options }, opening);
  return learningTest({ ...options, definition, open });
}

async function* checkAny({ kind, plugin }: AnyPlugin, name: string, options: SubjectOptions): Reports {
  const { actions: calls, material } = options;
  switch (kind) {
    case 'envs':
      yield* checkEnvironment(plugin, given(plugin, options, options.envOptions));
      break;
    case 'tools': {
      const tool = material === undefined ? plugin : () => plugin.create(material);
      yield named(name, await checkTool(tool, { ...options, calls }));
      break;
    }
    case 'sandboxes':
      yield named(name, await checkSandbox(plugin, { ...given(plugin, options), timeout: undefined }));
      break;
    case 'trainers':
      yield named(name, await checkTrainer(plugin, given(plugin, options)));
      break;
    case 'losses':
    case 'advantages': {
      // A part is checked in the trainer that takes it.
      const { needsCritic } = plugin as Partial<AdvantageEstimator>;
      const taker = await loadPlugin('trainers', needsCritic ? criticTrainer : defaultTrainer);
      const trainer = trainerWithPart(taker, kind, plugin, name);
      yield named(name, await checkTrainer(trainer, given(trainer, options)));
      break;
    }
    case 'scorers':
      yield named(name, await checkScorer(plugin, given(plugin, options)));
      break;
    case 'policies':
      yield* checkPolicyPlugin(plugin, name, options);
  }
}

/** A package as its users get it: what npm would publish, in a working folder that has none of the author's files. */
async function* checkPackage(folder: string, options: SubjectOptions): Reports {
  // Options may name files of the working folder.
  const hasOptions = options.pairs.length > 0 || Object.keys(options.envOptions).length > 0;
  // Packages of this repository run from their sources, which are not published.
  const isSource = process.execArgv.join().includes('@toolenv/source');
  const copy = isSource ? undefined : await packedCopy(folder);
  if (!copy) {
    yield* checkFolder(folder, options);
    return;
  }
  const from = process.cwd();
  const away = await mkdtemp(join(tmpdir(), 'toolenv-check-'));
  try {
    if (!hasOptions) process.chdir(away);
    for await (const report of checkFolder(copy.folder, options, folder))
      yield JSON.parse(JSON.stringify(report).replaceAll(copy.folder, `${folder} (packed)`)) as Report;
  } catch (error) {
    if (!ToolEnvError.isInstance(error)) throw error;
    const isMissing = error.code === 'usage.missing_file' && !hasOptions;
    if (isMissing || error.message.includes(copy.folder)) throw notPacked(error, copy.folder);
    throw error;
  } finally {
    process.chdir(from);
    await copy.remove();
    await rm(away, { recursive: true, force: true });
  }
}

/** @param folder The copy in which something is missing. */
function notPacked({ code, message, cause }: ToolEnvError, folder: string): ToolEnvError {
  const remedy =
    'npm does not publish all that the package needs: name its data in "files" of package.json, and find it by new URL(…, import.meta.url)';
  return new ToolEnvError(code, `${message.replaceAll(`${folder}/`, '')} ${remedy}.`, { cause });
}

/**
 * A package with its plugins.
 * @param builtIn The folder of the author, if `folder` is a copy.
 */
async function* checkFolder(folder: string, options: SubjectOptions, builtIn = folder): Reports {
  const report = await checkPlugin(folder, { ...options, builtIn });
  yield report;
  if (!report.ok) return;
  for (const plugin of packagePlugins(folder)) {
    const pairs = await pairsFor(plugin, folder, options.pairs);
    yield* checkReference(plugin, folder, { ...options, pairs });
  }
}

/** The pairs that are options of this plugin, because all plugins of a package are checked with one command line. */
async function pairsFor(
  { kind, ref }: { kind: PluginKind; ref: string },
  from: string,
  pairs: readonly string[],
): Promise<string[]> {
  if (kind === 'tools') return [];
  const { options } = await loadPlugin(kind, ref, { from });
  const names = Object.keys((options.properties as object | undefined) ?? {});
  return pairs.filter((pair) => names.includes(pair.split('=')[0]!));
}

async function* checkPolicyPlugin(
  definition: PolicyDefinition,
  name: string,
  options: SubjectOptions,
  preset: Record<string, unknown> = {},
): Reports {
  const complete = completeOptions(definition.options, given(definition, options, preset).options, name);
  const policy = await definition.open(complete, { seed: options.seed });
  const { learner } = policy;
  // An action of a large model takes longer than a step of an environment.
  const timeout = Math.max(options.timeout, 60_000);
  try {
    const { abilities } = policy;
    const nothing = { ok: true, findings: [], warnings: [], passed: [], skipped: [] };
    // The rules take minutes for a large model, and its abilities a moment.
    if (abilities) yield { subject: `${name}, what its model can do`, ...nothing, abilities };
    yield named(`${name}, its policy`, await checkPolicy(policy, { ...options, timeout }));
    if (learner) yield named(`${name}, its learner`, await checkLearner(learner, { ...options, timeout }));
  } finally {
    await policy.close?.();
  }
}

/** For the checks of a plugin: with the options that its schema reads from the pairs, and those of `set`. */
function given(
  { options: schema }: { options: JsonSchema },
  options: SubjectOptions,
  set: Record<string, unknown> = {},
): SubjectOptions & { options: Record<string, unknown> } {
  return { ...options, options: { ...readPairs(schema, options.pairs, '--option'), ...set } };
}

function named(subject: string, report: Report): Report {
  return { ...report, subject };
}
