/** Trial: the episodes from which a certificate comes: those of the oracle, of the panel, of mistakes, and of what explores tasks that begin alike. */
import { deriveSeed, type EnvHandle, type Scripted, type Trajectory } from '@toolenv/core';
import type { AnyEnvDefinition } from '../env/env-subject.ts';
import { explorer } from './explorer.ts';
import { mistaken } from './leaks-of-answers.ts';
import { panel } from './panel.ts';
import { type PanelScores, panelScores } from './panel-scores.ts';
import { playScripts, type ScriptedEpisode } from './play-scripts.ts';
import { alikeAtFirst, type Probe, twinsOf } from './told-apart.ts';

/** Turns of a player before it answers. */
const turnsOfPlayer = 4;
/** Turns of the explorer, and its calls in each. */
const [turnsOfExplorer, callsOfExplorer] = [8, 8];
/** Episodes of the explorer in a task, each with other words of the prompt. */
const explorations = 8;
/** Tasks of a group that are compared. */
const comparedTasks = 8;

export interface TrialOptions {
  seed: number;
  /** Milliseconds of an episode. Default 60,000. */
  deadline?: number;
  signal?: AbortSignal;
  /** Called before each player of the panel plays. */
  onPlayer?(player: string, done: number, total: number): void;
}

/** About how many tasks have a twin, and two tasks that are twins. */
export interface Twins {
  count: number;
  example?: readonly [number, number] | undefined;
}

export class Trial {
  readonly tasks: readonly unknown[];
  /** By task; and again, with another seed. */
  oracle: readonly Trajectory[] = [];
  again: readonly Trajectory[] = [];
  /** The episodes of each player of the panel by task. */
  readonly players: Map<string, readonly Trajectory[]> = new Map();
  readonly #definition: AnyEnvDefinition;
  readonly #env: EnvHandle<unknown>;
  readonly #options: TrialOptions;

  /** @param tasks Tasks that the oracle of the definition knows. */
  constructor(
    definition: AnyEnvDefinition,
    env: EnvHandle<unknown>,
    tasks: readonly unknown[],
    options: TrialOptions,
  ) {
    this.tasks = tasks;
    this.#definition = definition;
    this.#env = env;
    this.#options = options;
  }

  async playOracle(): Promise<void> {
    // A script may keep a state: each episode has its own.
    const episodes = () => this.tasks.map((task) => ({ task, script: this.#definition.oracle!(task)! }));
    this.oracle = await this.#play('oracle', episodes());
    this.again = await this.#play('oracle', episodes(), 1);
  }

  /** After {@link Trial.playOracle}, whose answers some players use. */
  async playPanel(): Promise<void> {
    const { seed, onPlayer } = this.#options;
    const turns = Math.max(1, Math.min(turnsOfPlayer, this.#limits.maxTurns - 1));
    const words = this.oracle.map(lastWords);
    for (const [done, { name, play }] of panel.entries()) {
      onPlayer?.(name, done, panel.length);
      const episodes = this.tasks.map((task, number) => {
        const answers = words.filter((word, other) => other !== number && word !== '');
        const others = actionsOf(this.oracle[this.#otherThan(number)]!);
        return { task, script: play({ seed, turns, answers, right: words[number]!, others }) };
      });
      this.players.set(name, await this.#play(name, episodes));
    }
  }

  scores(): PanelScores {
    const rewardsOf = (episodes: readonly Trajectory[]) => episodes.map(({ reward }) => reward);
    const players = panel.map(({ name, does }) => ({
      name,
      does,
      rewards: rewardsOf(this.players.get(name)!),
    }));
    return panelScores(rewardsOf(this.oracle), players);
  }

  /** Episodes in which a player makes every kind of mistake, by task. */
  mistakes(): Promise<Trajectory[]> {
    return this.#play(
      'mistaken',
      this.tasks.map((task) => ({ task, script: mistaken })),
    );
  }

  async twins(): Promise<Twins> {
    let example: Twins['example'];
    let count = 0;
    for (const group of alikeAtFirst(this.oracle)) {
      const compared = group.slice(0, comparedTasks);
      const twins = twinsOf(compared, await this.#probe(compared));
      example ??= twins[0];
      count += (twins.length / compared.length) * group.length;
    }
    return { count: Math.round(count), example };
  }

  /** What different scripts see in tasks that begin alike. */
  async #probe(tasks: readonly number[]): Promise<Probe[]> {
    const probe = async (name: string, script: () => ScriptedEpisode['script']): Promise<Probe> => {
      const episodes = tasks.map((task) => ({ task: this.tasks[task], script: script() }));
      const played = await this.#play(name, episodes);
      return { episodes: new Map(tasks.map((task, index) => [task, played[index]!])) };
    };
    const probes: Probe[] = [];
    const turns = Math.min(turnsOfExplorer, this.#limits.maxTurns - 1);
    const calls = Math.min(callsOfExplorer, this.#limits.maxCallsPerTurn);
    for (let part = 0; part < explorations; part++) {
      const exploring = { turns, calls, skipped: part * turns * calls, seed: this.#options.seed };
      probes.push(await probe(`explorer ${part}`, () => explorer(exploring)));
    }
    for (const { name, isBlind = true } of panel) {
      const played = this.players.get(name)!;
      if (isBlind) probes.push({ episodes: new Map(tasks.map((task) => [task, played[task]!])) });
    }
    for (const own of tasks) {
      const script = actionsOf(this.oracle[own]!);
      probes.push({ own, ...(await probe(`oracle of ${own}`, () => script)) });
    }
    return probes;
  }

  get #limits() {
    return this.#env.episode().spec.limits;
  }

  #otherThan(task: number): number {
    // Neighbours may be variations of each other.
    return (task + Math.max(1, Math.floor(this.tasks.length / 2))) % this.tasks.length;
  }

  /** @param draw Number of the seed of all episodes. */
  #play(name: string, episodes: readonly ScriptedEpisode[], draw = 0): Promise<Trajectory[]> {
    const { seed, deadline = 60_000, signal } = this.#options;
    const drawn = deriveSeed(seed, 'certificate', draw);
    return playScripts(episodes, { env: this.#env, name, seed: drawn, deadline, signal });
  }
}

function actionsOf({ steps }: Trajectory): Scripted[] {
  return steps.map(({ action }) => action);
}

/** The text of the last action, if that is an answer. */
function lastWords({ steps }: Trajectory): string {
  const last = steps.at(-1)?.action;
  return last && last.toolCalls.length === 0 ? last.text : '';
}
