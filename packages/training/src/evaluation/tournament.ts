/** playTournament: policies play an environment of several players against each other, each in every seat, and are compared. */
import {
  type EnvHandle,
  EpisodeStatistics,
  type Policy,
  rewardTolerance,
  rollout,
  summariseEpisode,
  ToolEnvError,
  type Trajectory,
} from '@toolenv/core';
import { completeOptions } from '@toolenv/core/plugins';
import { AbortWatch } from '../rollouts/abort-watch.ts';
import { mean } from '../rows/averages.ts';
import { type EvaluationOptions, evaluationOptions } from '../trainer/evaluation-options.ts';
import { requireParts } from '../trainer/require-parts.ts';
import { confidenceInterval, type Estimate } from './confidence-interval.ts';
import { episodesOf } from './evaluate.ts';

export interface TournamentOptions<Task = unknown> extends Partial<EvaluationOptions> {
  /** Its open players, those whom `self` plays, are seats of the tournament, besides the first player. */
  env: EnvHandle<Task>;
  /** At least two, by the names that the result gives them. */
  policies: Readonly<Record<string, Policy>>;
  /** Ends the tournament by throwing the signal's reason. */
  signal?: AbortSignal;
  /** Called with each game as it ends. */
  onGame?(
    game: Trajectory<Task>,
    about: {
      /** The name of the policy in each seat. */
      seating: Readonly<Record<string, string>>;
      /** Games that ended, and games in all. */
      ended: number;
      all: number;
    },
  ): void | Promise<void>;
}

/** What one policy did. */
export interface Standing {
  /** Share of the other seats that it beat, a tie counting ½: how often its reward was the larger. `null` if it met nobody. */
  winRate: Estimate | null;
  /** Its win rate against each other policy. */
  against: Record<string, Estimate | null>;
  /** Mean weighted reward of its seats. */
  reward: Estimate | null;
  /** Mean weighted reward in each seat. */
  bySeat: Record<string, number | null>;
}

export interface Tournament {
  /** The seats: `first`, and the players. */
  seats: string[];
  /** Games played, aborted games included. */
  games: number;
  /** Games that infrastructure faults ended. They count for nobody. */
  aborted: number;
  /** Aborted games by their cause, the most frequent first. Absent if there are none. */
  causes?: Record<string, number> | undefined;
  /** What the intervals are over: tasks, or with fewer than ten tasks, tasks and numbers of samples. */
  units: { of: 'tasks' | 'samples'; count: number };
  /** By policy, the highest win rate first. */
  standings: Record<string, Standing>;
  /** Wall-clock time. */
  seconds: number;
}

/** Name of the first player's seat. */
const firstSeat = 'first';
/** Fewer tasks are no sample of the tasks that there are. */
const fewTasks = 10;

/**
 * Plays `samples` games of each of a split's first tasks in each seating: every policy has every seat equally often, in games that begin alike.
 * Throws as `evaluate` does.
 * @throws ToolEnvError `usage.tournament` with fewer than two policies, without a second player whom `self` plays, and for a game that
 *   rewards not all of its players.
 */
export async function playTournament<Task>(options: TournamentOptions<Task>): Promise<Tournament> {
  requireParts('playTournament', options, ['env']);
  const { env, policies, signal, onGame, ...given } = options;
  const complete = completeOptions(
    evaluationOptions,
    given,
    'playTournament',
  ) as unknown as EvaluationOptions;
  const { split, count, samples, passScore: _, maxAborted, ...rest } = complete;
  const { concurrency, deadline, onDeadline, seed, retries, onBug, onImages, ...sampling } = rest;
  const entrants = Object.keys(policies);
  if (entrants.length < 2)
    throw wrong(`${entrants.length} policies cannot play each other: give two or more`);
  const { players = [], name } = env.episode().spec;
  if (players.length === 0)
    throw wrong(
      `${name} has no second player whom the policy plays too: let self play a player that it declares`,
    );
  const tasks = env.tasks[split];
  const length = Math.min(count, await tasks.length);
  if (length === 0) throw wrong(`split "${split}" has no tasks: give another split`);

  const start = performance.now();
  const seats = [firstSeat, ...players];
  const watch = new AbortWatch(maxAborted);
  const ofTasks = length >= fewTasks;
  const scores = new Scores(seats, ofTasks ? 1 : samples);
  const statistics = new EpisodeStatistics();
  let ended = 0;
  const common = { env, concurrency, sampling, seed, deadline, onDeadline, retries, onBug, onImages, signal };
  const tables = seatings(entrants, seats.length);
  const all = tables.length * length * samples;
  for (const seating of tables) {
    const [first, ...others] = seating.map((entrant) => policies[entrant]!);
    const policy = seatedPolicy(
      first!,
      Object.fromEntries(players.map((player, seat) => [player, others[seat]!])),
    );
    const seated = Object.fromEntries(seats.map((seat, at) => [seat, seating[at]!]));
    for await (const game of rollout({
      ...common,
      policy,
      episodes: episodesOf(tasks, { length, samples }),
    })) {
      ended += 1;
      statistics.add(summariseEpisode(game));
      scores.add(game, seating);
      watch.add(game.outcome);
      await onGame?.(game, { seating: seated, ended, all });
    }
  }
  const aborted = ended - statistics.episodes;
  const standings = entrants
    .map((entrant) => [entrant, scores.standing(entrant, entrants)] as const)
    .sort(([, a], [, b]) => (b.winRate?.mean ?? -1) - (a.winRate?.mean ?? -1));
  return {
    ...{ seats, games: ended, aborted, ...(aborted > 0 && { causes: statistics.causes }) },
    units: { of: ofTasks ? 'tasks' : 'samples', count: ofTasks ? length : length * samples },
    standings: Object.fromEntries(standings),
    seconds: (performance.now() - start) / 1000,
  };
}

/** The scores of the games so far, by what they are about and by the unit of the intervals. */
class Scores {
  readonly #seats: readonly string[];
  readonly #unitsPerTask: number;
  readonly #scores: Map<string, number[][]> = new Map();

  constructor(seats: readonly string[], unitsPerTask: number) {
    this.#seats = seats;
    this.#unitsPerTask = unitsPerTask;
  }

  add({ outcome, reward, players = {}, group, sample }: Trajectory<unknown>, seating: readonly string[]) {
    if (outcome.kind === 'aborted') return;
    const unit = this.#unitsPerTask === 1 ? group : group * this.#unitsPerTask + sample;
    const rewards = this.#seats.map((seat, at) => (at === 0 ? reward : players[seat]!.reward));
    for (const [a, seat] of this.#seats.entries()) {
      const own = rewards[a];
      if (typeof own !== 'number') throw unrewarded(seat);
      this.#note(unit, own, 'reward', seating[a]!);
      this.#note(unit, own, 'seat', seating[a]!, seat);
      for (const [b, rival] of seating.entries()) {
        if (rival === seating[a]) continue;
        const margin = own - (rewards[b] ?? 0);
        const won = Math.abs(margin) < rewardTolerance ? 0.5 : Number(margin > 0);
        this.#note(unit, won, 'win', seating[a]!);
        this.#note(unit, won, 'win', seating[a]!, rival);
      }
    }
  }

  standing(entrant: string, entrants: readonly string[]): Standing {
    const rivals = entrants.filter((name) => name !== entrant);
    return {
      winRate: this.#estimate([0, 1], 'win', entrant),
      against: Object.fromEntries(
        rivals.map((rival) => [rival, this.#estimate([0, 1], 'win', entrant, rival)]),
      ),
      reward: this.#estimate(undefined, 'reward', entrant),
      bySeat: Object.fromEntries(
        this.#seats.map((seat) => [seat, this.#estimate(undefined, 'seat', entrant, seat)?.mean ?? null]),
      ),
    };
  }

  #note(unit: number, score: number, ...about: string[]): void {
    const key = JSON.stringify(about);
    const scores = this.#scores.get(key) ?? [];
    this.#scores.set(key, scores);
    scores[unit] ??= [];
    scores[unit].push(score);
  }

  #estimate(range: [number, number] | undefined, ...about: string[]): Estimate | null {
    const units = Object.values(this.#scores.get(JSON.stringify(about)) ?? []);
    if (units.length === 0) return null;
    return { mean: mean(units.flat()), interval: confidenceInterval(units, range) };
  }
}

function unrewarded(seat: string): ToolEnvError {
  const remedy =
    seat === firstSeat
      ? 'return rewards when the game ends'
      : `return playerRewards: { ${seat}: … } when the game ends, or let a script or a policy play it, so that it is no seat`;
  return wrong(`a game ended without a reward of "${seat}": ${remedy}`);
}

function wrong(problem: string): ToolEnvError {
  return new ToolEnvError('usage.tournament', `playTournament: ${problem}.`);
}

/**
 * @param first Plays the first player, and every conversation that belongs to no player.
 * @param others The policies of the other players, by the player's name.
 */
function seatedPolicy(first: Policy, others: Readonly<Record<string, Policy>>): Policy {
  const all = [...new Set([first, ...Object.values(others)])];
  return {
    spec: {
      name: [first, ...Object.values(others)].map(({ spec }) => spec.name).join(', '),
      contextLength: Math.min(...all.map(({ spec }) => spec.contextLength)),
      capabilities: { images: all.every(({ spec }) => spec.capabilities?.images === true) },
    },
    act(observation, options) {
      const { conversation = '' } = observation;
      const policy = Object.hasOwn(others, conversation) ? others[conversation]! : first;
      return policy.act(observation, options);
    },
    async endEpisode(episodeId) {
      await Promise.all(all.map((policy) => policy.endEpisode?.(episodeId)));
    },
  };
}

/**
 * Every table of entrants, in each rotation of its seats: in each table, every entrant has every seat equally often. Where there are more
 * entrants than seats, each choice of entrants is a table; where there are fewer, they share the seats as evenly as possible.
 * @param entrants At least two.
 * @param seats At least two.
 * @returns The entrant of each seat.
 */
export function seatings(entrants: readonly string[], seats: number): string[][] {
  const each = Math.floor(seats / entrants.length);
  const tables = choices(entrants, seats % entrants.length).map((more) =>
    entrants.flatMap((name) => Array<string>(each + (more.includes(name) ? 1 : 0)).fill(name)),
  );
  const rotations = tables.flatMap((table) =>
    table.map((_, by) => [...table.slice(by), ...table.slice(0, by)]),
  );
  return [...new Map(rotations.map((seating) => [JSON.stringify(seating), seating])).values()];
}

/** Every choice of `count` of the names. */
function choices(names: readonly string[], count: number): string[][] {
  if (count === 0) return [[]];
  return names.flatMap((name, at) =>
    choices(names.slice(at + 1), count - 1).map((others) => [name, ...others]),
  );
}
