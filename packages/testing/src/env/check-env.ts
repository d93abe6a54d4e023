/** checkEnv: checks an environment against the ENV rules of the spec. */
import {
  type EnvCapabilities,
  type EnvDefinition,
  type EnvHandle,
  type OpenedEnv,
  openEnv,
  ToolEnvError,
} from '@toolenv/core';
import { findPlugin, type ToolSource } from '@toolenv/core/plugins';
import { expectNoLeaks, networkUseOf } from '../leaks.ts';
import { type CheckOptions, type Report, Reporter } from '../report.ts';
import { thrown, Violation } from '../violation.ts';
import { checkBaselines, checkLabels } from './env-baseline-checks.ts';
import { checkDefinition, checkSpec, checkTasks } from './env-definition-checks.ts';
import { checkCancellation, checkFaults, shortLimit } from './env-fault-checks.ts';
import { fuzzEnv, fuzzRules, maxFuzzLength } from './env-fuzz.ts';
import { checkOrder } from './env-order-checks.ts';
import { checkReplay } from './env-replay-checks.ts';
import { checkSignals } from './env-signals.ts';
import { type AnyEnvDefinition, EnvSubject, FaultyTools } from './env-subject.ts';
import { checkWarnings } from './env-warnings.ts';
import { scriptedSeats } from './scripted-seats.ts';
import { someTasks } from './some-tasks.ts';

export interface CheckEnvOptions<Options = Record<string, unknown>> extends CheckOptions {
  /** The environment's own options. */
  options?: Partial<Options>;
  /** Tools for its roles, in place of the defaults. */
  tools?: Record<string, ToolSource>;
  /** Seeds the environment and the check. Default 1. */
  seed?: number;
  /** Folder from which plugins are searched for. Default: the working folder. */
  from?: string;
  /** Number of fuzzed actions. Default 1,000. */
  actions?: number;
  /** Milliseconds that a reset or a step may take at most. Default 10,000. */
  timeout?: number;
  /** Called after each fuzzed episode with the number of actions taken so far. */
  onActions?(count: number): void;
}

/** Number of tasks that the checks play. */
const playedTasks = 6;
/** Number of tasks that are played to look for what is left behind. */
const leakedTasks = 3;
/** Number of tasks whose observations are searched for their label. */
const searchedTasks = 40;

/**
 * Opens the environment several times, plays it, and reports the rules that it breaks. Rules that need something that the
 * environment lacks (tools of roles, an oracle, labels) are reported as not checked.
 * @throws ToolEnvError `usage.*` as `openEnv` does, or as the environment's own `open` does for wrong options.
 */
export function checkEnv(ref: string, options?: CheckEnvOptions): Promise<Report>;
export function checkEnv<Task, Options>(
  definition: EnvDefinition<Task, Options>,
  options?: CheckEnvOptions<Options>,
): Promise<Report>;
export async function checkEnv(
  env: string | EnvDefinition<unknown, unknown>,
  options: Omit<CheckEnvOptions, 'options'> & { options?: unknown } = {},
): Promise<Report> {
  const { from = process.cwd(), seed = 1, timeout = 10_000, actions = 1000, signal } = options;
  const loaded = typeof env === 'string' ? await findPlugin('envs', env, { from }) : undefined;
  const definition = (loaded?.plugin ?? env) as AnyEnvDefinition;
  const report = new Reporter(loaded?.ref ?? definition.name, 'ENV', options);
  await checkDefinition(definition, report);
  if (!report.report.ok) return report.report;

  const tools = new FaultyTools(definition, options.tools ?? {}, loaded ? [from, loaded.folder] : [from]);
  const given = (options.options ?? {}) as Record<string, unknown>;
  const open = (changes = {}) =>
    openEnv(definition, { ...given, ...changes }, { seed, tools: tools.factories, from, guarded: false });
  const first = await opened(report, () => open());
  if (!first) return report.report;
  const shared = { definition, tools, report, timeout, seed, signal };
  const subjectOf = async (opened: EnvHandle<unknown>) =>
    new EnvSubject({ ...shared, open: opened, tasks: await someTasks(opened, playedTasks) });
  let toolTimeout: number | undefined;
  let subject: EnvSubject;
  try {
    await report.check(['ENV-3'], async () => {
      await using again = await open();
      await checkTasks(first, again);
    });
    if (report.broken('ENV-3')) return report.report;
    subject = await subjectOf(first);
    if (subject.tasks.length === 0) throw noTasks(report.report.subject);
    await checkSpec(subject);
    await checkOrder(subject);
    await checkReplay(subject, loaded?.folder);
    await checkCancellation(subject);
    await checkLabels(subject, await someTasks(first, searchedTasks));
    const fuzzed = async () => {
      // Longer episodes begin less often, which saves time if each begins with a server of its own.
      const isShort = definition.limits.maxTurns < maxFuzzLength && given.maxTurns === undefined;
      const isLonger = isShort && hasOption(definition, 'maxTurns');
      await using longer = isLonger ? await open({ maxTurns: maxFuzzLength }) : undefined;
      await fuzzEnv(subject.openedAs(longer ?? first), actions, options.onActions);
    };
    // A warning needs the rewards of many episodes.
    await report.check(fuzzRules, fuzzed, report.wants('WARN-4'));
    await using scripted = await openForOracle(subject, open);
    await checkBaselines(subject.openedAs(scripted ?? first));
    await checkWarnings(subject);
    if (hasOption(definition, 'toolTimeout')) toolTimeout = await shortLimit(subject);
  } finally {
    await first.close();
  }
  {
    await using env = await open(toolTimeout === undefined ? {} : { toolTimeout });
    await checkFaults(await subjectOf(env));
  }
  await report.check(['ENV-34', 'ENV-36'], () =>
    checkLeaks(() => playOnce(open, subjectOf), definition.capabilities),
  );
  if (!report.broken('ENV-34')) await report.check(['WARN-7'], () => checkSignals(subject, open));
  return report.report;
}

/** The environment, or `undefined` if opening it fails. A usage error is thrown, because it is for the user. */
async function opened(
  report: Reporter,
  open: () => Promise<OpenedEnv<unknown>>,
): Promise<OpenedEnv<unknown> | undefined> {
  let env: OpenedEnv<unknown> | undefined;
  const openOnce = async () => {
    env = await open().catch((error: unknown) => {
      if (ToolEnvError.isInstance(error) && !error.code.startsWith('bug.')) throw error;
      throw thrown('ENV-2', 'open() to succeed with the default options', error);
    });
  };
  await report.check(['ENV-2'], openOnce, true);
  return env;
}

function noTasks(subject: string): ToolEnvError {
  const remedy = 'set the options that give it tasks (--option key=value on the command line).';
  return new ToolEnvError('usage.no_tasks', `${subject} has no tasks in any split: ${remedy}`);
}

/** The environment with scripted seats; `undefined` if it has none. */
async function openForOracle(
  { definition, open: opened, tasks }: EnvSubject,
  open: (changes: Record<string, string>) => Promise<OpenedEnv<unknown>>,
): Promise<OpenedEnv<unknown> | undefined> {
  const seats = scriptedSeats(definition, opened, tasks);
  return seats && (await open(seats));
}

function hasOption({ options }: AnyEnvDefinition, name: string): boolean {
  return Object.hasOwn((options.properties as object | undefined) ?? {}, name);
}

async function playOnce(
  open: () => Promise<OpenedEnv<unknown>>,
  subjectOf: (env: EnvHandle<unknown>) => Promise<EnvSubject>,
): Promise<void> {
  await using env = await open();
  const subject = await subjectOf(env);
  for (const [index, task] of subject.tasks.slice(0, leakedTasks).entries()) {
    await subject.withWatched(async (watched) => {
      await watched.take(subject.actions(await watched.reset(task, index), index, 3));
    });
  }
}

/**
 * Checks the first run of `work` for use of the network and the second for leaks: the first run may open what lasts as long
 * as the process.
 */
async function checkLeaks(
  work: () => Promise<void>,
  { networked = false }: EnvCapabilities = {},
): Promise<void> {
  const used = await networkUseOf(work);
  if (used.length > 0 && !networked) {
    throw new Violation('ENV-36', 'no use of the network without "networked" declared', used.join(', '));
  }
  await expectNoLeaks('ENV-34', 'after the environment is closed', work);
}
