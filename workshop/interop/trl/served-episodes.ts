/** ServedEpisodes: runs episodes for a trainer in another process, which numbers them. */
import type { Action, Env, EnvHandle, Message, Rewards } from '@toolenv/core';

export type EpisodeQuestion =
  | { method: 'reset'; episode: number; task: number }
  | { method: 'step'; episode: number; turn: number; action: Action };

export interface EpisodeReply {
  /** The tool's result after a call. */
  text: string;
  rewards: Rewards;
  /** Time that the environment itself took. */
  seconds: number;
}

interface Episode {
  env: Env;
  task: unknown;
  turn?: number;
  /** The calls of the current turn. */
  calls: Action['toolCalls'];
}

export class ServedEpisodes {
  readonly #env: EnvHandle<unknown>;
  readonly #tasks: readonly unknown[];
  readonly #seed: number;
  readonly #episodes: Map<number, Episode> = new Map();

  constructor(env: EnvHandle<unknown>, tasks: readonly unknown[], seed: number) {
    this.#env = env;
    this.#tasks = tasks;
    this.#seed = seed;
  }

  /** The first messages of each task's episode. */
  async openings(): Promise<Message[][]> {
    const env = this.#env.episode();
    const openings: Message[][] = [];
    for (const task of this.#tasks) openings.push((await env.reset({ task, seed: this.#seed })).messages);
    return openings;
  }

  async answer(question: EpisodeQuestion): Promise<EpisodeReply> {
    const start = performance.now();
    const { text, rewards } =
      question.method === 'reset' ? await this.#reset(question) : await this.#step(question);
    return { text, rewards, seconds: (performance.now() - start) / 1000 };
  }

  async #reset({ episode, task: index }: EpisodeQuestion & { method: 'reset' }) {
    const env = this.#episodes.get(episode)?.env ?? this.#env.episode();
    const task = this.#tasks[index];
    this.#episodes.set(episode, { env, task, calls: [] });
    await env.reset({ task, seed: this.#seed });
    return { text: '', rewards: {} };
  }

  async #step({ episode, turn, action }: EpisodeQuestion & { method: 'step' }) {
    const played = this.#episodes.get(episode)!;
    if (played.turn !== turn) {
      Object.assign(played, { turn, calls: action.toolCalls });
      return stepOf(played.env, action);
    }
    // A further call in the same turn. Play the whole turn in a fresh episode to get the environment's answer to this call.
    played.calls = [...played.calls, ...action.toolCalls];
    const other = this.#env.episode();
    await other.reset({ task: played.task, seed: this.#seed });
    const { text } = await stepOf(other, { ...action, toolCalls: played.calls });
    return { text, rewards: {} };
  }
}

async function stepOf(env: Env, action: Action): Promise<{ text: string; rewards: Rewards }> {
  const { observation, rewards, outcome } = await env.step(action);
  if (outcome.kind === 'aborted') throw outcome.cause;
  const last = observation.messages.at(-1)!;
  return { text: last.role === 'tool' ? last.content : '', rewards: rewards ?? {} };
}
