/** RunningEpisode: the state of an episode. ToolEnv keeps it up to date, and hooks see it as their context. */

import { asSnapshot, snapshot } from '../boundary/json-copies.ts';
import type { Action } from '../protocol/action.ts';
import { didYouMean } from '../protocol/did-you-mean.ts';
import type { EnvLimits, ToolCallRecord } from '../protocol/env.ts';
import { ToolEnvError } from '../protocol/errors.ts';
import type { Message } from '../protocol/message.ts';
import { running, type ScoredOutcome } from '../protocol/outcome.ts';
import type { Prompts } from '../protocol/prompts.ts';
import { createRng, type Rng } from '../protocol/rng.ts';
import type { Tool } from '../protocol/tool.ts';
import { callsBounds } from '../schemas/json-bounds.ts';
import { boundRecord } from '../tools/bound-record.ts';
import { type DispatchOptions, dispatch } from '../tools/dispatch.ts';
import type { EnvironmentCall, Episode, EpisodeContext } from './episode.ts';
import { freeName, takeName } from './episode-names.ts';
import { EpisodePlayer } from './episode-player.ts';
import type { PlayerBinding } from './open-players.ts';
import type { Player } from './player.ts';
import { TurnRendezvous } from './turn-rendezvous.ts';

/** What an episode begins with. */
type EpisodeStart<Task> = Pick<
  RunningEpisode<Task>,
  'task' | 'seed' | 'episodeId' | 'limits' | 'options' | 'shared'
> & { seats?: ReadonlyMap<string, PlayerBinding> | undefined; prompts?: Prompts | undefined };

export class RunningEpisode<Task = unknown> implements EpisodeContext<Task> {
  readonly task: Task;
  readonly seed: number;
  readonly episodeId: string;
  readonly options: unknown;
  readonly shared: unknown;
  readonly limits: EnvLimits;
  state: unknown;
  /** Grows in place. Observations are copies. */
  conversation: Message[] = [];
  turn = 0;
  answer: string | undefined;
  turnCalls: readonly ToolCallRecord[] = [];
  readonly calls: ToolCallRecord[] = [];
  outcome: ScoredOutcome = running;
  /** The author's episode; absent while it begins. */
  hooks: Episode | undefined;
  /** A step is under way. */
  stepping = false;
  /** Calls of the first player run. */
  isCalling = false;
  done = false;
  #rng: Rng | undefined;
  #signal: AbortSignal | undefined;
  #nextCall = 0;
  /** Turns of players that the policy plays too. */
  readonly rendezvous: TurnRendezvous = new TurnRendezvous();
  readonly #players: ReadonlyMap<string, Player>;
  readonly #prompts: Prompts;
  /** The calls of the step under way. */
  #stepCalls: ToolCallRecord[] = [];
  readonly #environmentCalls: Map<number, ToolCallRecord> = new Map();
  /** The tools that were called and keep something for the episode. */
  readonly #holding: Set<Tool> = new Set();

  constructor({
    task,
    seed,
    episodeId,
    limits,
    options,
    shared,
    seats = new Map(),
    prompts = {},
  }: EpisodeStart<Task>) {
    this.task = task;
    this.seed = seed;
    this.episodeId = takeName(episodeId);
    this.options = options;
    this.shared = shared;
    this.limits = limits;
    this.#prompts = prompts;
    this.#players = new Map([...seats].map(([name, seat]) => [name, new EpisodePlayer(name, seat, this)]));
  }

  get rng(): Rng {
    this.#rng ??= createRng(this.seed, 'initial');
    return this.#rng;
  }

  get signal(): AbortSignal {
    this.#signal ??= new AbortController().signal;
    return this.#signal;
  }

  /** Sets the signal of the reset or step that begins. */
  listenTo(signal: AbortSignal | undefined): void {
    this.#signal = signal;
  }

  /** The tools on offer. */
  tools(): readonly Tool[] {
    return listed(this.hooks?.tools);
  }

  /** Runs calls on tools. Each call of an episode has its own number, which seeds its tool. */
  #run(
    calls: Action['toolCalls'],
    tools: readonly Tool[],
    limits: EnvLimits,
    onProgress?: DispatchOptions['onProgress'],
  ): Promise<ToolCallRecord[]> {
    const { episodeId, seed } = this;
    const firstCallIndex = this.#nextCall;
    this.#nextCall += calls.length;
    for (const tool of tools)
      if (tool.release && calls.some((call) => 'name' in call && call.name === tool.name))
        this.#holding.add(tool);
    return dispatch(calls, tools, {
      limits,
      episodeId,
      seed,
      firstCallIndex,
      signal: this.#signal,
      onProgress,
    });
  }

  readonly call = async (
    asked: Tool | string,
    args: Record<string, unknown> = {},
  ): Promise<EnvironmentCall> => {
    const tool = typeof asked === 'string' ? this.#find(asked) : asked;
    if (!tool) throw environmentCall(String(asked), 'the episode has no such tool: give the tool itself');
    const number = this.#nextCall;
    const calls = [{ id: `environment-${number}`, name: tool.name, arguments: args }];
    // The limits protect the policy's context and its turns.
    const toolTimeout = Math.max(this.limits.toolTimeout, Number(tool.timeout ?? 0));
    const limits = { ...this.limits, toolTimeout, maxToolCharacters: Number.POSITIVE_INFINITY };
    const [record] = await this.rendezvous.during(() => this.#run(calls, [tool], limits));
    if (record!.mistake) throw environmentCall(tool.name, record!.text);
    // The hook may change what it is given.
    this.#environmentCalls.set(number, snapshot(boundRecord(record!), callsBounds));
    return record as EnvironmentCall;
  };

  readonly player = (name: string): Player => {
    const player = this.#players.get(name);
    if (player) return player;
    const message = `There is no player "${name}". ${didYouMean(name, [...this.#players.keys()], 'Players')}`;
    throw new ToolEnvError('bug.environment', message);
  };

  readonly prompt = (name: string): string => {
    if (Object.hasOwn(this.#prompts, name)) return this.#prompts[name]!;
    const known = didYouMean(name, Object.keys(this.#prompts), 'Texts');
    throw new ToolEnvError('bug.environment', `There is no open text "${name}". ${known}`);
  };

  get hasPlayers(): boolean {
    return this.#players.size > 0;
  }

  /** Runs calls of a turn, and keeps their records, which hooks cannot change: those of the policy for its step. */
  async runOf(
    who: 'policy' | 'environment',
    calls: Action['toolCalls'],
    tools: readonly Tool[],
    onProgress?: DispatchOptions['onProgress'],
  ): Promise<ToolCallRecord[]> {
    const first = this.#nextCall;
    const records = await this.#run(calls, tools, this.limits, onProgress);
    // Before hooks see them.
    const kept = recordsOf(records);
    if (who === 'policy') this.#stepCalls = kept;
    else for (const [n, record] of kept.entries()) this.#environmentCalls.set(first + n, record);
    return records;
  }

  takeStepCalls(): ToolCallRecord[] {
    const calls = this.#stepCalls;
    this.#stepCalls = [];
    return calls;
  }

  /** Releases what tools keep for the episode, and its name. May be called once. */
  async release(): Promise<void> {
    try {
      await Promise.all([...this.#holding].map((tool) => tool.release?.(this.episodeId)));
    } finally {
      freeName(this.episodeId);
    }
  }

  #find(name: string): Tool | undefined {
    const tools = [...this.tools(), ...listed(this.hooks?.environmentTools)];
    return tools.find((tool) => tool.name === name);
  }

  /** The environment's own calls since they were last taken, in order. */
  takeEnvironmentCalls(): ToolCallRecord[] {
    if (this.#environmentCalls.size === 0) return [];
    const inOrder = [...this.#environmentCalls].sort(([a], [b]) => a - b);
    this.#environmentCalls.clear();
    return asSnapshot(inOrder.map(([, record]) => record));
  }
}

function listed(tools: Episode['tools'] = []): readonly Tool[] {
  return typeof tools === 'function' ? tools() : tools;
}

function environmentCall(tool: string, why: string): ToolEnvError {
  return new ToolEnvError('bug.environment_call', `The environment's call of "${tool}": ${why}.`);
}

/** @throws ToolEnvError `bug.*` if the episode cannot take a step now. */
export function expectStep<Task>(episode: RunningEpisode<Task> | undefined): asserts episode {
  if (!episode) throw new ToolEnvError('bug.step_before_reset', 'step() before reset(): call reset() first.');
  if (episode.stepping) {
    const message = 'step() during another step(): await the first, or use two Envs.';
    throw new ToolEnvError('bug.concurrent_step', message);
  }
  if (!episode.done) return;
  throw new ToolEnvError('bug.step_after_end', 'step() after the end: call reset() for a new episode.');
}

/** The records of a turn's calls, which hooks cannot change. */
function recordsOf(calls: readonly ToolCallRecord[]): ToolCallRecord[] {
  const bounded = calls.map(boundRecord);
  if (bounded.length === 0) return bounded;
  try {
    return snapshot(bounded, callsBounds);
  } catch {
    // A call beyond the bounds that nobody has bounded.
    return bounded;
  }
}
