/** ToolEnv: runs episodes of tool calls. Authors define how an episode begins and what results and answers are worth. */
import { type Action, isParseFailure } from '../protocol/action.ts';
import type { Env, EnvSpec, ToolCallRecord, Transition } from '../protocol/env.ts';
import { isInfrastructure, ToolEnvError } from '../protocol/errors.ts';
import type { Message, Observation, ToolCall } from '../protocol/message.ts';
import { aborted, running, type ScoredOutcome, truncated } from '../protocol/outcome.ts';
import { type Rewards, scoreTruncation } from '../protocol/reward.ts';
import { createRng, type Rng } from '../protocol/rng.ts';
import type { Tool } from '../protocol/tool.ts';
import { boundRecord } from '../tools/bound-record.ts';
import { dispatch } from '../tools/dispatch.ts';

/** What an author's hook may decide about a step. Fields left out take their defaults. */
export interface TurnResult {
  rewards?: Rewards;
  /** Default: the episode goes on. */
  outcome?: ScoredOutcome;
  /** The whole next conversation, in order to shorten or rewrite it. Default: the current one with the new messages appended. */
  messages?: Message[];
  info?: Record<string, unknown>;
}

export interface InitialContext {
  /** Seeded by the episode. */
  rng: Rng;
  /** Aborted when the episode ends. Pass it to everything that waits. */
  signal?: AbortSignal;
}

/** How an episode begins. */
export interface InitialState<State> {
  state: State;
  messages: Message[];
}

/**
 * Base class of environments whose actions are tool calls and answers. One instance runs one episode at a time.
 * A truncated episode scores 0 in each outcome component left unscored, whether a limit or a hook truncated it.
 */
export abstract class ToolEnv<Task, State> implements Env<Task> {
  abstract readonly spec: EnvSpec;

  #episode: Episode<State> | undefined;

  /** The first messages of an episode, and the state that the other hooks receive. */
  protected abstract initial(
    task: Task,
    context: InitialContext,
  ): InitialState<State> | Promise<InitialState<State>>;
  /** The tools that the policy may call next. */
  protected abstract tools(state: State): Tool[];
  /** Called after a turn without tool calls, whose text is the answer. */
  protected abstract onAnswer(state: State, text: string): TurnResult | Promise<TurnResult>;
  /**
   * Called after a turn's tool calls with their complete results. May reward, end the episode or rewrite the context.
   * Default: append the results and go on.
   */
  protected onToolResults(_state: State, _calls: ToolCallRecord[]): TurnResult | Promise<TurnResult> {
    return {};
  }

  async reset(options: {
    task: Task;
    seed: number;
    episodeId?: string;
    signal?: AbortSignal;
  }): Promise<Observation> {
    options.signal?.throwIfAborted();
    const rng = createRng(options.seed, 'initial');
    const { state, messages } = await this.initial(options.task, { rng, signal: options.signal });
    this.#episode = {
      state,
      messages: [...messages],
      seed: options.seed,
      id: options.episodeId ?? `episode-${options.seed}`,
      turns: 0,
      calls: 0,
      stepping: false,
      done: false,
    };
    return this.#observe(this.#episode);
  }

  async step(action: Action, options: { signal?: AbortSignal } = {}): Promise<Transition> {
    const episode = this.#episode;
    if (!episode)
      throw new ToolEnvError('bug.step_before_reset', 'step() before reset(): call reset() first.');
    if (episode.stepping) {
      throw new ToolEnvError(
        'bug.concurrent_step',
        'step() during another step(): await the first, or use two Envs.',
      );
    }
    if (episode.done) {
      throw new ToolEnvError('bug.step_after_end', 'step() after the end: call reset() for a new episode.');
    }
    options.signal?.throwIfAborted();
    episode.stepping = true;
    // Reset below if the step succeeds. A step that throws cannot be repeated, because its tools may have acted.
    episode.done = true;
    try {
      const transition = await this.#advance(episode, action, options.signal);
      episode.done = transition.outcome.kind !== 'running';
      return transition;
    } catch (error) {
      if (!isInfrastructure(error)) throw error;
      return { observation: this.#observe(episode), calls: [], info: {}, outcome: aborted(error) };
    } finally {
      episode.stepping = false;
    }
  }

  async close(): Promise<void> {
    this.#episode = undefined;
  }

  async #advance(episode: Episode<State>, action: Action, signal?: AbortSignal): Promise<Transition> {
    episode.turns += 1;
    if (action.stopReason === 'length') return this.#cutShort(episode, action);
    const calls = await dispatch(action.toolCalls, this.tools(episode.state), {
      limits: this.spec.limits,
      episodeId: episode.id,
      seed: episode.seed,
      firstCallIndex: episode.calls,
      signal,
    });
    episode.calls += calls.length;
    episode.messages = [...episode.messages, ...messagesOf(action, calls)];

    const answered = calls.length === 0;
    const meaning = await (answered
      ? this.onAnswer(episode.state, action.text)
      : this.onToolResults(episode.state, calls));
    if (meaning.messages) episode.messages = [...meaning.messages];
    const said = meaning.outcome ?? running;
    const outcome = said.kind === 'running' ? this.#limit(episode) : said;
    const rewards = meaning.rewards ?? {};
    return {
      observation: this.#observe(episode),
      rewards: outcome.kind === 'truncated' ? scoreTruncation(this.spec.rewards, rewards) : rewards,
      outcome,
      calls: calls.map(boundRecord),
      info: meaning.info ?? {},
    };
  }

  /** Ends the episode after a turn that ran out of tokens. Such a turn is neither a call nor an answer. */
  #cutShort(episode: Episode<State>, action: Action): Transition {
    episode.messages = [...episode.messages, { role: 'assistant', content: action.text }];
    const rewards = scoreTruncation(this.spec.rewards, {});
    return {
      observation: this.#observe(episode),
      rewards,
      outcome: truncated('max_tokens'),
      calls: [],
      info: {},
    };
  }

  #limit(episode: Episode<State>): ScoredOutcome {
    return episode.turns >= this.spec.limits.maxTurns ? truncated('max_turns') : running;
  }

  #observe(episode: Episode<State>): Observation {
    const tools = this.tools(episode.state).map(({ name, description, inputSchema }) => ({
      name,
      description,
      inputSchema,
    }));
    return { messages: [...episode.messages], tools };
  }
}

interface Episode<State> {
  state: State;
  messages: Message[];
  seed: number;
  id: string;
  turns: number;
  calls: number;
  /** A step is under way. */
  stepping: boolean;
  done: boolean;
}

/** The assistant's turn and the tools' answers to it, as messages. */
function messagesOf(action: Action, calls: ToolCallRecord[]): Message[] {
  const parsed = action.toolCalls.filter((call): call is ToolCall => !isParseFailure(call));
  const turn: Message = { role: 'assistant', content: action.text };
  if (parsed.length > 0) turn.toolCalls = parsed;
  const answers = calls.map(({ call, text }): Message => {
    if (isParseFailure(call)) return { role: 'tool', content: text, toolCallId: '', name: '' };
    return { role: 'tool', content: text, toolCallId: call.id, name: call.name };
  });
  return [turn, ...answers];
}
