/** certifyEnv: plays an environment with players that do none of its work, and says whether its rewards can be trusted. */
import { type EnvDefinition, type EnvHandle, openEnv, type Trajectory } from '@toolenv/core';
import { findPlugin } from '@toolenv/core/plugins';
import type { CheckEnvOptions } from '../env/check-env.ts';
import type { AnyEnvDefinition } from '../env/env-subject.ts';
import { scriptedSeats } from '../env/scripted-seats.ts';
import { someTasks, spread } from '../env/some-tasks.ts';
import { type CheckOptions, Reporter } from '../report.ts';
import { brief, causeText, Violation } from '../violation.ts';
import type { Certificate, CertificateReport, Learned } from './certificate.ts';
import { answerOf, leakOf } from './leaks-of-answers.ts';
import { type NearDuplicate, nearDuplicates } from './near-duplicates.ts';
import { panel } from './panel.ts';
import type { PanelScores } from './panel-scores.ts';
import { Trial, type Twins } from './trial.ts';

export interface CertifyEnvOptions<Options = Record<string, unknown>>
  extends CheckOptions,
    Pick<CheckEnvOptions<Options>, 'options' | 'tools' | 'seed' | 'from'> {
  /** Tasks to play, of all splits. Default 32. */
  tasks?: number;
  /** Milliseconds that an episode may take. Default 60,000. */
  deadline?: number;
  /** Trains a policy in the environment, for CERT-8. Default: the rule is not checked. */
  learn?(): Promise<Learned>;
  /** Called before each player plays. */
  onPlayer?(player: string, done: number, total: number): void;
}

/** Largest share of a player that does none of the work. */
const mostShare = 0.6;
/** Share of the tasks in which the oracle must earn more than the least of all players. */
const leastTelling = 0.9;
/** Shares of tried tasks with a twin, and of test tasks near a training task. */
const [mostTwins, mostDuplicates] = [0.1, 0.05];
/** Tasks of a split that are compared with those of another. */
const [trainingTasks, testTasks] = [2000, 200];

/**
 * Plays some tasks by the oracle and by the panel, and reports the rules of certificates. Takes about 20 episodes a task.
 * @throws ToolEnvError `usage.*` as `openEnv` does.
 */
export function certifyEnv(ref: string, options?: CertifyEnvOptions): Promise<CertificateReport>;
export function certifyEnv<Task, Options>(
  definition: EnvDefinition<Task, Options>,
  options?: CertifyEnvOptions<Options>,
): Promise<CertificateReport>;
export async function certifyEnv(
  env: string | EnvDefinition<unknown, unknown>,
  options: Omit<CertifyEnvOptions, 'options'> & { options?: unknown } = {},
): Promise<CertificateReport> {
  const { from = process.cwd(), seed = 1, tools = {} } = options;
  const loaded = typeof env === 'string' ? await findPlugin('envs', env, { from }) : undefined;
  const definition = (loaded?.plugin ?? env) as AnyEnvDefinition;
  const name = loaded?.ref ?? definition.name;
  const report = new Reporter(`${name}, its certificate`, 'CERT', options);
  const given = (options.options ?? {}) as Record<string, unknown>;
  const open = (changes = {}) => {
    const settings = { seed, tools, from };
    const set = { ...given, ...changes };
    return typeof env === 'string' ? openEnv(env, set, settings) : openEnv(definition, set, settings);
  };
  await using plain = await open();
  const some = await someTasks(plain, options.tasks ?? 32);
  // An oracle may leave out tasks, such as openings of a game that are lost.
  const tasks = some.filter((task) => definition.oracle?.(task) !== undefined);
  const seats = scriptedSeats(definition, plain, tasks);
  await using seated = seats && (await open(seats));
  const trial = new Trial(definition, seated ?? plain, tasks, { seed, ...options });
  await trial.playOracle();
  await report.check(
    ['CERT-1'],
    () => {
      if (2 * tasks.length > some.length) return checkOracle(trial);
      const known = `${tasks.length} of ${some.length} tasks`;
      const received = definition.oracle ? `an oracle of ${known}` : 'none';
      throw new Violation('CERT-1', 'an oracle that has a script for most tasks', received);
    },
    true,
  );
  let duplicates = { found: 0, of: 0 };
  await report.check(['CERT-7'], async () => {
    const { train, test } = await splitsOf(plain);
    const near = nearDuplicates(train, test);
    duplicates = { found: near.length, of: test.length };
    if (near.length <= mostDuplicates * test.length) return;
    const [first] = near as [NearDuplicate];
    const example = `${brief(test[first.test])}, near ${brief(train[first.train])}`;
    const received = `${near.length} of ${test.length} test tasks, such as ${example}`;
    throw new Violation('CERT-7', 'test tasks that are no training tasks', received);
  });
  if (report.broken('CERT-1')) return report.report;
  await trial.playPanel();
  const panelScores = trial.scores();
  await report.check(['CERT-5'], () => checkTelling(panelScores, tasks.length));
  await report.check(['CERT-2'], () => checkShares(panelScores));
  await report.check(['CERT-3'], () => checkBest(trial));
  await report.check(['CERT-4'], async () => {
    const answerIn = (episode: Trajectory, task: number) =>
      definition.label?.(tasks[task])?.trim() || answerOf(episode);
    checkLeaks(await trial.mistakes(), trial.oracle.map(answerIn));
  });
  let twins = 0;
  await report.check(['CERT-6'], async () => {
    const found = await trial.twins();
    twins = found.count;
    checkTwins(found, tasks);
  });
  const { learn } = options;
  let learned: Learned | undefined;
  if (!learn) report.skip(['CERT-8'], 'no policy has trained: toolenv check --learnable trains one');
  else {
    await report.check(['CERT-8'], async () => {
      learned = await learn();
      checkLearned(learned);
    });
  }
  const version = plain.packageVersion;
  const certificate: Certificate = {
    ...{ env: name, ...(version !== undefined && { version }), options: given, seed },
    ...{ tasks: tasks.length, panel: panelScores, twins, duplicates, ...(learned && { learned }) },
  };
  return { ...report.report, certificate };
}

/** @throws Violation `CERT-1`. */
function checkOracle({ oracle, again, tasks }: Trial): void {
  for (const [task, { outcome, reward }] of oracle.entries()) {
    const what = `a reward for the oracle on ${brief(tasks[task])}`;
    const remedy = 'Remove what fails there, and check again.';
    if (outcome.kind === 'aborted') throw new Violation('CERT-1', what, causeText(outcome.cause), remedy);
    if (reward === null) throw new Violation('CERT-1', what, 'none');
    const other = again[task]!.reward;
    if (other !== null && Math.abs(reward - other) < tolerance) continue;
    throw new Violation('CERT-1', `the reward ${reward} with each seed, as ${what}`, `${other}`);
  }
}

const tolerance = 1e-6;

/** @throws Violation `CERT-3`. */
function checkBest({ oracle, players, tasks }: Trial): void {
  for (const { name, does } of panel) {
    for (const [task, { reward }] of players.get(name)!.entries()) {
      const best = oracle[task]!.reward!;
      if (reward === null || reward <= best + tolerance) continue;
      const expected = `at most the oracle's ${best} on ${brief(tasks[task])}`;
      throw new Violation('CERT-3', expected, `${reward} for "${name}", which ${does}`);
    }
  }
}

/** @throws Violation `CERT-4`. */
function checkLeaks(episodes: readonly Trajectory[], answers: readonly (string | undefined)[]): void {
  const leak = leakOf(episodes, answers);
  if (!leak) return;
  const received = `${percent(leak.own)} of the answers ${leak.road}, such as ${brief(leak.answer)}`;
  throw new Violation('CERT-4', 'no answer before the work is done', received);
}

/** @throws Violation `CERT-6`. */
function checkTwins({ count, example }: Twins, tasks: readonly unknown[]): void {
  if (!example || count <= mostTwins * tasks.length) return;
  const [a, b] = example.map((task) => brief(tasks[task]));
  const received = `${count} of ${tasks.length} tasks that look like another and need other actions, such as ${a} and ${b}`;
  throw new Violation('CERT-6', 'something that tells tasks apart', received);
}

/** @throws Violation `CERT-5`. */
function checkTelling({ telling, oracle }: PanelScores, tasks: number): void {
  if (telling >= leastTelling * tasks) return;
  const received = `${tasks - telling} of ${tasks} tasks in which every player earns what the oracle does (${oracle} on average)`;
  throw new Violation('CERT-5', 'rewards that tell whether a task was done', received);
}

/** @throws Violation `CERT-2` for the player with the largest share. */
function checkShares({ players, oracle }: PanelScores): void {
  const [best] = players.toSorted((a, b) => b.share - a.share);
  if (!best || best.atLeast <= mostShare) return;
  const expected = `at most ${percent(mostShare)} of what the oracle earns (${oracle?.toFixed(2)}) for players that do none of the work`;
  const received = `${percent(best.share)} for "${best.name}", which ${best.does}`;
  throw new Violation('CERT-2', expected, received, panel.find(({ name }) => name === best.name)?.remedy);
}

/** Training and test tasks, spread evenly. */
async function splitsOf({ tasks }: EnvHandle<unknown>): Promise<{ train: unknown[]; test: unknown[] }> {
  const some = async (split: 'train' | 'test', most: number) =>
    Promise.all(spread(await tasks[split].length, most).map((index) => tasks[split].get(index)));
  const [train, test] = await Promise.all([some('train', trainingTasks), some('test', testTasks)]);
  return { train, test };
}

/** @throws Violation `CERT-8`. */
function checkLearned({ policy, minutes, split, tasks, before, after, interval }: Learned): void {
  if (interval && interval[0] > 0) return;
  const [from, to] = [before, after].map((reward) => (reward === null ? 'none' : reward.toFixed(3)));
  const expected = `a higher reward after ${minutes.toFixed(1)} minutes of imitation of the oracle, beyond chance`;
  throw new Violation(
    'CERT-8',
    expected,
    `${from} before and ${to} after, of ${tasks} tasks of ${split}, for ${policy}`,
  );
}

function percent(share: number): string {
  return `${Math.round(100 * share)} %`;
}
