/** PlaySession: the episodes that a person plays in the page, one after another. */
import {
  type Action,
  type EnvDefinition,
  type EnvHandle,
  messageOf,
  type Observation,
  ToolEnvError,
  type Trajectory,
  type TrajectoryStep,
} from '@toolenv/core';
import { type Player, playByHand, type Replayed, type WrittenTurn } from './play-by-hand.ts';
import { solutionOf } from './solution.ts';

export interface PlayState {
  env: string;
  /** Counts from 1. */
  number: number;
  /** Finished turns. */
  steps: TrajectoryStep[];
  /** What the person sees; absent while the environment answers. */
  observation?: Observation;
  /** How far the running tool is. */
  progress?: string;
  /** Once the episode has ended. */
  trajectory?: Trajectory;
  /** How the task is won, as the environment's oracle does it; no turns if it has none. */
  solution?: WrittenTurn[];
  /** Why there is no episode any more. */
  problem?: string;
}

export interface SessionOptions<Task> {
  env: EnvHandle<Task>;
  /** The task of an episode, by its number from 1. */
  task(number: number): Task | Promise<Task>;
  seed: number;
  /** Turns that an episode begins with, by its number from 1. */
  replayed?(number: number): Replayed | undefined;
  /** Of the environment's definition: it shows how the task is won, once the episode has ended. */
  oracle?: EnvDefinition<Task>['oracle'];
  /** Called with each finished episode, before the page shows that it has ended. */
  keep(trajectory: Trajectory): Promise<void>;
  signal: AbortSignal;
}

export class PlaySession<Task> {
  readonly #options: SessionOptions<Task>;
  readonly #listeners = new Set<() => void>();
  #state: PlayState;
  #write: ((turn: WrittenTurn | Action) => void) | undefined;

  constructor(options: SessionOptions<Task>) {
    this.#options = options;
    this.#state = { env: options.env.ref ?? options.env.episode().spec.name, number: 0, steps: [] };
    this.next();
  }

  get state(): PlayState {
    return this.#state;
  }

  /** Calls `listener` when the state changes. Returns a function that ends it. */
  follow(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** @throws ToolEnvError `usage.not_your_turn`. */
  write(turn: WrittenTurn | Action): void {
    if (!this.#write)
      throw new ToolEnvError('usage.not_your_turn', 'It is not your turn: wait for the environment.');
    this.#write(turn);
  }

  /**
   * Begins the next episode.
   * @throws ToolEnvError `usage.not_over` if an episode is being played.
   */
  next(): void {
    const { env, number, trajectory, problem } = this.#state;
    if (number > 0 && !trajectory && problem === undefined)
      throw new ToolEnvError('usage.not_over', 'The episode is not over: finish it first.');
    this.#show({ env, number: number + 1, steps: [] });
    this.#play(number + 1).catch((error: unknown) =>
      this.#set({ observation: undefined, progress: undefined, problem: messageOf(error) }),
    );
  }

  async #play(number: number): Promise<void> {
    const { env, seed, oracle, keep, signal } = this.#options;
    const [task, replayed] = [await this.#options.task(number), this.#options.replayed?.(number)];
    const player: Player = {
      write: (observation) => this.#turn(observation),
      answered: (step) => this.#set({ steps: [...this.#state.steps, step], progress: undefined }),
      progressed: (progress) => this.#set({ progress }),
    };
    const trajectory = await playByHand({ env, task, number, seed, replayed, signal, player });
    await keep(trajectory);
    const solution = await solutionOf(oracle, trajectory);
    this.#set({ trajectory, solution, observation: undefined, progress: undefined });
  }

  async #turn(observation: Observation): Promise<WrittenTurn | Action> {
    const turn = new Promise<WrittenTurn | Action>((resolve) => {
      this.#write = resolve;
    });
    this.#set({ observation });
    const written = await turn;
    this.#write = undefined;
    this.#set({ observation: undefined });
    return written;
  }

  #set(changes: Partial<PlayState>): void {
    this.#show({ ...this.#state, ...changes });
  }

  #show(state: PlayState): void {
    this.#state = state;
    for (const listener of this.#listeners) listener();
  }
}
