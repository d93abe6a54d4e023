/** certifyEnv: plays an environment with players that do none of its work, and says whether its rewards can be trusted. */
import {
  deriveSeed,
  type EnvDefinition,
  type EnvHandle,
  openEnv,
  type Scripted,
  type Trajectory,
} from '@toolenv/core';
import { findPlugin, type ToolSource } from '@toolenv/core/plugins';
import type { AnyEnvDefinition } from '../env/env-subject.ts';
import { scriptedSeats } from '../env/scripted-seats.ts';
import { someTasks, spread } from '../env/some-tasks.ts';
import { type CheckOptions, type Report, Reporter } from '../report.ts';
import { brief, causeText, Violation } from '../violation.ts';
import { explorer } from './explorer.ts';
import { answerOf, leakOf, mistaken } from './leaks-of-answers.ts';
import { type NearDuplicate, nearDuplicates } from './near-duplicates.ts';
import { panel } from './panel.ts';
import { type NamedRewards, type PanelScores, panelScores } from './panel-scores.ts';
import { playScripts } from './play-scripts.ts';
import { alikeAtFirst, type Probe, twinsOf } from './told-apart.ts';

export interface CertifyEnvOptions<Options = Record<string, unknown>> extends CheckOptions {
  /** The environment's own options. */
  options?: Partial<Options>;
  /** Tools for its roles, in place of the defaults. */
  tools?: Record<string, ToolSource>;
  /** Seeds the environment and the players. Default 1. */
  seed?: number;
  /** Folder from which plugins are searched for. Default: the working folder. */
  from?: string;
  /** Tasks to play, of all splits. Default 32. */
  tasks?: number;
  /** Milliseconds that an episode may take. Default 60,000. */
  deadline?: number;
  /** Trains a policy in the environment, for CERT-8. Default: the rule is not checked. */
  learn?(): Promise<Learned>;
  /** Called before each player plays. */
  onPlayer?(player: string, done: number, total: number): void;
}

/** What a certificate is about, beside the report of its rules. */
export interface Certificate {
  env: string;
  /** Version of the environment's package, if it has one. */
  version?: string;
  /** The environment's own options that were given. */
  options: Readonly<Record<string, unknown>>;
  seed: number;
  /** Tasks that were played. */
  tasks: number;
  panel: PanelScores;
  /** Tried tasks with a twin, and test tasks that are near a training task. */
  twins: number;
  duplicates: { found: number; of: number };
  /** Absent if no policy has trained. */
  learned?: Learned;
}

/** A policy before and after it has imitated the oracle in training tasks. */
export interface Learned {
  policy: string;
  /** Of training. */
  minutes: number;
  updates: number;
  /** Episodes of the oracle that it has imitated. */
  demonstrations: number;
  /** The split of the tasks that tested it, and their number. */
  split: string;
  tasks: number;
  /** Mean rewards of these tasks. */
  before: number | null;
  after: number | null;
  /** 95 % interval of `after` − `before`, over tasks. */
  interval: readonly [low: number, high: number] | null;
  /** Mean rewards by minutes of training. */
  curve: readonly { minutes: number; reward: number | null }[];
}

export interface CertificateReport extends Report {
  /** Absent if there is nothing to measure: no oracle, or no task that it wins. */
  certificate?: Certificate;
}

/** Largest share of a player that does none of the work. */
const mostShare = 0.6;
/** Share of the tasks in which the oracle must earn more than the least of all players. */
const leastTelling = 0.9;
/** Shares of tried tasks with a twin, and of test tasks near a training task. */
const [mostTwins, mostDuplicates] = [0.1, 0.05];
/** Turns of a player before it answers. */
const turnsOfPlayer = 4;
/** Turns of the explorer, and its calls in each. */
const [turnsOfExplorer, callsOfExplorer] = [8, 8];
/** Episodes of the explorer in a task, each with other words of the prompt. */
const explorations = 8;
/** Tasks of a group that are compared. */
const comparedTasks = 8;
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
  const { from = process.cwd(), seed = 1, tools = {}, signal } = options;
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
  const trial = new Trial(definition, seated ?? plain, tasks, { seed, signal, ...options });
  await report.check(
    ['CERT-1'],
    () => {
      if (2 * tasks.length > some.length) return trial.playOracle();
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
  await report.check(['CERT-3'], () => trial.checkBest());
  await report.check(['CERT-4'], () => trial.checkLeaks());
  let twins = 0;
  await report.check(['CERT-6'], async () => {
    const found = await trial.twins();
    twins = found.count;
    if (!found.example || twins <= mostTwins * tasks.length) return;
    const [a, b] = found.example.map((task) => brief(tasks[task]));
    const received = `${twins} of ${tasks.length} tasks that look like another and need other actions, such as ${a} and ${b}`;
    throw new Violation('CERT-6', 'something that tells tasks apart', received);
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

type Played = Required<Pick<CertifyEnvOptions, 'seed'>> &
  Pick<CertifyEnvOptions, 'deadline' | 'signal' | 'onPlayer'>;

/** The episodes of the oracle and of the panel. */
class Trial {
  readonly #definition: AnyEnvDefinition;
  readonly #env: EnvHandle<unknown>;
  readonly #tasks: readonly unknown[];
  readonly #options: Played;
  #oracle: readonly Trajectory[] = [];
  readonly #players: Map<string, readonly Trajectory[]> = new Map();

  constructor(
    definition: AnyEnvDefinition,
    env: EnvHandle<unknown>,
    tasks: readonly unknown[],
    options: Played,
  ) {
    this.#definition = definition;
    this.#env = env;
    this.#tasks = tasks;
    this.#options = options;
  }

  /** @throws Violation `CERT-1`. */
  async playOracle(): Promise<void> {
    const play = (number: number) => {
      const episodes = this.#tasks.map((task) => ({ task, script: this.#definition.oracle!(task)! }));
      return this.#play(episodes, 'oracle', deriveSeed(this.#options.seed, 'certificate', number));
    };
    this.#oracle = await play(0);
    const again = await play(1);
    for (const [task, { outcome, reward }] of this.#oracle.entries()) {
      const other = again[task]!;
      const what = `a reward for the oracle on ${brief(this.#tasks[task])}`;
      if (outcome.kind === 'aborted')
        throw new Violation(
          'CERT-1',
          what,
          causeText(outcome.cause),
          'Remove what fails there, and check again.',
        );
      if (reward === null) throw new Violation('CERT-1', what, 'none');
      if (Math.abs(reward - (other.reward ?? Number.NaN)) < tolerance) continue;
      throw new Violation('CERT-1', `the reward ${reward} with each seed, as ${what}`, `${other.reward}`);
    }
  }

  async playPanel(): Promise<void> {
    const { limits } = this.#env.episode().spec;
    const turns = Math.max(1, Math.min(turnsOfPlayer, limits.maxTurns - 1));
    const words = this.#oracle.map((episode) => lastWords(episode));
    for (const [done, { name, play }] of panel.entries()) {
      this.#options.onPlayer?.(name, done, panel.length);
      const episodes = this.#tasks.map((task, number) => {
        const answers = words.filter((word, other) => other !== number && word !== '');
        const others = actionsOf(this.#oracle[this.#otherThan(number)]!);
        const right = words[number]!;
        const knowledge = { seed: this.#options.seed, turns, answers, right, others };
        return { task, script: play(knowledge) };
      });
      this.#players.set(name, await this.#play(episodes, name));
    }
  }

  scores(): PanelScores {
    const players = panel.map(({ name, does }): NamedRewards => {
      return { name, does, rewards: this.#players.get(name)!.map(({ reward }) => reward) };
    });
    return panelScores(
      this.#oracle.map(({ reward }) => reward),
      players,
    );
  }

  /** @throws Violation `CERT-3`. */
  checkBest(): void {
    for (const { name, does } of panel) {
      for (const [task, { reward }] of this.#players.get(name)!.entries()) {
        const best = this.#oracle[task]!.reward!;
        if (reward === null || reward <= best + tolerance) continue;
        const expected = `at most the oracle's ${best} on ${brief(this.#tasks[task])}`;
        throw new Violation('CERT-3', expected, `${reward} for "${name}", which ${does}`);
      }
    }
  }

  /** @throws Violation `CERT-4`. */
  async checkLeaks(): Promise<void> {
    const episodes = this.#tasks.map((task) => ({ task, script: mistaken }));
    const answers = this.#oracle.map(
      (episode, task) => this.#definition.label?.(this.#tasks[task])?.trim() || answerOf(episode),
    );
    const leak = leakOf(await this.#play(episodes, 'mistaken'), answers);
    if (!leak) return;
    const received = `${percent(leak.own)} of the answers ${leak.road}, such as ${brief(leak.answer)}`;
    throw new Violation('CERT-4', 'no answer before the work is done', received);
  }

  /** About how many tasks have a twin, and two tasks that are twins. */
  async twins(): Promise<{ count: number; example?: readonly [number, number] }> {
    let example: readonly [number, number] | undefined;
    let count = 0;
    const { limits } = this.#env.episode().spec;
    const turns = Math.min(turnsOfExplorer, limits.maxTurns - 1);
    const calls = Math.min(callsOfExplorer, limits.maxCallsPerTurn);
    for (const group of alikeAtFirst(this.#oracle)) {
      const compared = group.slice(0, comparedTasks);
      const probes: Probe[] = [];
      for (let part = 0; part < explorations; part++) {
        const exploring = { turns, calls, skipped: part * turns * calls, seed: this.#options.seed };
        const episodes = compared.map((task) => ({ task: this.#tasks[task], script: explorer(exploring) }));
        const explored = await this.#play(episodes, `explorer ${part}`);
        probes.push({ episodes: new Map(compared.map((task, index) => [task, explored[index]!])) });
      }
      // If the oracle makes calls and nobody else has found one that works, nothing is known of the tasks.
      const isOpen = compared.every((task) => {
        const needs = hasResult(this.#oracle[task]!);
        return !needs || probes.some(({ episodes }) => hasResult(episodes.get(task)!));
      });
      if (!isOpen) continue;
      const blind = panel.filter(({ isBlind = true }) => isBlind);
      for (const { name } of blind) probes.push({ episodes: byTask(compared, this.#players.get(name)!) });
      for (const own of compared) {
        const script = actionsOf(this.#oracle[own]!);
        const episodes = compared.map((task) => ({ task: this.#tasks[task], script }));
        const played = await this.#play(episodes, `oracle of ${own}`);
        probes.push({ own, episodes: new Map(compared.map((task, index) => [task, played[index]!])) });
      }
      const twins = twinsOf(compared, probes);
      example ??= twins[0];
      count += (twins.length / compared.length) * group.length;
    }
    return { count: Math.round(count), ...(example && { example }) };
  }

  #otherThan(task: number): number {
    // Neighbours may be variations of each other.
    return (task + Math.max(1, Math.floor(this.#tasks.length / 2))) % this.#tasks.length;
  }

  #play(
    episodes: Parameters<typeof playScripts>[0],
    name: string,
    seed = deriveSeed(this.#options.seed, 'certificate', 0),
  ): Promise<Trajectory[]> {
    const { deadline = 60_000, signal } = this.#options;
    return playScripts(episodes, { env: this.#env, name, seed, deadline, signal });
  }
}

const tolerance = 1e-6;

function byTask(tasks: readonly number[], episodes: readonly Trajectory[]): Map<number, Trajectory> {
  return new Map(tasks.map((task) => [task, episodes[task]!]));
}

/** Whether a call of it was answered, and not refused. */
function hasResult({ steps }: Trajectory): boolean {
  return steps.some(({ calls }) => calls.some(({ result }) => result && !result.isError));
}

function actionsOf({ steps }: Trajectory): Scripted[] {
  return steps.map(({ action }) => action);
}

/** The text of the last action, if that is an answer. */
function lastWords({ steps }: Trajectory): string {
  const last = steps.at(-1)?.action;
  return last && last.toolCalls.length === 0 ? last.text : '';
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
