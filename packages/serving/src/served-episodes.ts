/** ServedEpisodes: the episodes that one client of a served environment plays, one after another. */

import {
  type Action,
  deriveSeed,
  type Env,
  type EnvHandle,
  type ErrorCode,
  type Message,
  type Observation,
  type Outcome,
  type Rewards,
  running,
  type ScoredTransition,
  type Split,
  type StepOptions,
  type TaskSet,
  type ToolDescription,
  ToolEnvError,
  weigh,
} from '@toolenv/core';
import { guardEnv } from '@toolenv/core/env';
import { withinDeadline } from '@toolenv/core/tools';

/** The part of an open environment that serving needs. */
export type ServedEnv<Task> = Pick<
  EnvHandle<Task>,
  'tasks' | 'episode' | 'ref' | 'packageVersion' | 'capabilities'
>;

/** Which episodes a server plays. */
export interface EpisodeOptions {
  /** The split whose tasks are played. Default `test`. */
  split?: Split;
  /** Seeds the episodes of each session, together with their number. Default 1. */
  seed?: number;
}

/** The episode that a session plays. */
export interface ServedEpisode {
  /** Index of the task. */
  readonly task: number;
  readonly seed: number;
  readonly id: string | undefined;
  observation: Observation;
  /** `cancelled`: the client cancelled a turn, whose tools may have acted. */
  outcome: Outcome | { kind: 'cancelled' };
  steps: number;
}

/** Which episode a client asks for. */
export interface WantedEpisode {
  /** Default: the next task. */
  task?: number;
  /** Default: a different seed for each episode. */
  seed?: number;
  episodeId?: string;
}

/**
 * The name of an environment that can be served.
 * @param options `onError` is called with what closing an unused Env throws.
 * @throws ToolEnvError `usage.serve_no_tasks` if the split has no tasks; `usage.serve_self_play` if its policy plays several players, whose
 *   turns a client could not keep apart.
 */
export async function servedName<Task>(
  env: ServedEnv<Task>,
  { split = 'test', onError }: { split?: Split | undefined; onError(error: unknown): void },
): Promise<string> {
  if (!((await env.tasks[split].length) > 0)) {
    const message = `The environment has no tasks in its split "${split}": serve another split.`;
    throw new ToolEnvError('usage.serve_no_tasks', message);
  }
  const probe = env.episode();
  const { players = [], name } = probe.spec;
  closeWithTimeout(probe, name).catch(onError);
  if (players.length === 0) return env.ref ?? name;
  const [list, flags] = [players.join(', '), players.map((player) => `--${player} <name>`).join(' ')];
  const message = `${name}: a client plays one player, and this environment is open with self-play of ${list}: name a script or a policy as ${list} (${flags}).`;
  throw new ToolEnvError('usage.serve_self_play', message);
}

/** The episodes of a session, one after another. */
export class ServedEpisodes<Task> {
  readonly name: string;
  readonly env: Env<Task>;
  readonly #tasks: TaskSet<Task>;
  readonly #seed: number;
  readonly #next: () => number;
  /** The last episode that has begun, ended or not. */
  current: ServedEpisode | undefined;

  /** @param next Numbers the episodes. Default: those of this client. */
  constructor(
    served: ServedEnv<Task>,
    { split = 'test', seed = 1 }: EpisodeOptions,
    next: () => number = counter(),
  ) {
    this.env = guardEnv(served.episode(), served.capabilities?.remote);
    this.name = served.ref ?? this.env.spec.name;
    this.#tasks = served.tasks[split];
    this.#seed = seed;
    this.#next = next;
  }

  get taskCount(): number | Promise<number> {
    return this.#tasks.length;
  }

  /** @param wanted A task below `taskCount`. */
  async begin(wanted: WantedEpisode, signal: AbortSignal): Promise<ServedEpisode> {
    const number = this.#next();
    this.current = undefined;
    const {
      task = number % (await this.taskCount),
      seed = deriveSeed(this.#seed, number),
      episodeId,
    } = wanted;
    const given = { task: await this.#tasks.get(task), seed, episodeId, signal };
    const observation = await this.env.reset(given);
    this.current = { task, seed, id: episodeId, observation, outcome: running, steps: 0 };
    return this.current;
  }

  /** Plays a turn of the current episode. Throws the cause if the episode is aborted. */
  async step(
    action: Action,
    signal: AbortSignal,
    onProgress?: StepOptions['onProgress'],
  ): Promise<ScoredTransition> {
    const episode = this.current!;
    // Replaced if the step succeeds. A step that throws cannot be repeated.
    episode.outcome = { kind: 'cancelled' };
    episode.steps += 1;
    const transition = await this.env.step(action, { signal, ...(onProgress && { onProgress }) });
    episode.outcome = transition.outcome;
    episode.observation = transition.observation;
    if (!transition.rewards) throw transition.outcome.cause;
    return transition;
  }

  /** @throws ToolEnvError with the code if the environment has a tool of this name, which is that of the tool for answers. */
  refuseTool(answerName: string, tools: readonly ToolDescription[], code: ErrorCode): void {
    if (!tools.some(({ name }) => name === answerName)) return;
    const message = `${this.name} has a tool "${answerName}", but sessions use that name themselves: rename the tool.`;
    throw new ToolEnvError(code, message);
  }

  /** The weighted sum of a step's rewards; `null` if none was scored. */
  rewardOf(rewards: Rewards): number | null {
    const isScored = Object.values(rewards).some((value) => typeof value === 'number');
    return isScored ? weigh(this.env.spec.rewards, rewards) : null;
  }
}

/** The tool with which clients that know only tools give the policy's answer. */
export function answerToolNamed(name: string): ToolDescription & { inputSchema: { type: 'object' } } {
  return {
    name,
    description: 'Give the final answer to the task.',
    inputSchema: {
      type: 'object',
      properties: { text: { type: 'string' } },
      required: ['text'],
      additionalProperties: false,
    },
  };
}

/** Why an episode does not run, in words. */
export function endText(outcome: ServedEpisode['outcome']): string {
  return 'reason' in outcome ? `${outcome.kind}: ${outcome.reason}` : outcome.kind;
}

function counter(): () => number {
  let count = 0;
  return () => count++;
}

/** Milliseconds that an Env has to close, after which its session counts as closed. */
const closeTimeout = 10_000;

/**
 * Closes the Env of a client that has left, without waiting for it forever.
 * @throws ToolEnvError `infrastructure.env_close` after 10 s, and what closing throws.
 */
export async function closeWithTimeout(env: Pick<Env, 'close'>, name: string): Promise<void> {
  const message = `${name} did not close within ${closeTimeout / 1000} s: its step or its close hangs; make both end when the signal aborts.`;
  const reason = () => new ToolEnvError('infrastructure.env_close', message);
  await withinDeadline({ after: closeTimeout, reason }, () => env.close());
}

/** The messages after the policy's turn, for clients that keep the conversation themselves; all messages if the environment has rewritten the conversation. */
export function newMessages(
  before: readonly Message[],
  now: readonly Message[],
): [messages: readonly Message[], isRewritten: boolean] {
  const kept = before.every((message, index) => isSame(message, now[index]));
  if (!kept) return [now, true];
  const added = now.slice(before.length);
  return [added[0]?.role === 'assistant' ? added.slice(1) : added, false];
}

function isSame(a: Message, b: Message | undefined): boolean {
  return a === b || (a.role === b?.role && a.content === b.content);
}
