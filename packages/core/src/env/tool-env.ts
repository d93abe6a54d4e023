/** ToolEnv: plays episodes of tool calls and answers, as their author's hooks decide. */
import { networkFault } from '../boundary/machinery-fault.ts';
import { snapshot } from '../boundary/snapshot.ts';
import { type Action, isParseFailure, turnMessage } from '../protocol/action.ts';
import type { Env, EnvSpec, ResetOptions, StepOptions, ToolCallRecord, Transition } from '../protocol/env.ts';
import { ToolEnvError } from '../protocol/errors.ts';
import type { Message, Observation } from '../protocol/message.ts';
import { aborted, terminated, truncated } from '../protocol/outcome.ts';
import { type Rewards, scoreTruncation } from '../protocol/reward.ts';
import type { Tool } from '../protocol/tool.ts';
import { callsBounds } from '../schemas/json-bounds.ts';
import { boundRecord } from '../tools/bound-record.ts';
import type { Episode, EpisodeContext, TurnDecision } from './episode.ts';
import { readDecision } from './read-decision.ts';
import type { ScoredReward } from './reward-declaration.ts';
import { expectStep, RunningEpisode } from './running-episode.ts';
import { scoreTurn } from './score-turn.ts';
import { resultImages, withNewestImages } from './turn-images.ts';

/** What a ToolEnv is made from. */
export interface ToolEnvParts<Task, Context = EpisodeContext<Task>> {
  spec: EnvSpec;
  rewards: Readonly<Record<string, ScoredReward<Context>>>;
  options?: unknown;
  shared?: unknown;
  state?(context: EpisodeContext<Task>): unknown;
  episode(context: Context): Episode | Promise<Episode>;
}

/**
 * Runs one episode at a time. A truncated episode scores 0 in each outcome component that neither a hook nor a reward
 * function has scored.
 */
export class ToolEnv<Task, Context = EpisodeContext<Task>> implements Env<Task> {
  readonly spec: EnvSpec;
  readonly #parts: ToolEnvParts<Task, Context>;
  #current: RunningEpisode<Task> | undefined;
  /** A promise, so that an episode that is closed while it begins is released too. */
  #hooks: Promise<Episode> | undefined;
  /** The episode that was begun last, until it is released. */
  #begun: RunningEpisode<Task> | undefined;

  constructor(parts: ToolEnvParts<Task, Context>) {
    this.spec = parts.spec;
    this.#parts = parts;
  }

  async reset(begun: ResetOptions<Task>): Promise<Observation> {
    const { task, seed, episodeId = `episode-${seed}`, signal } = begun;
    signal?.throwIfAborted();
    await this.#leave();
    const { options, shared } = this.#parts;
    const { limits } = this.spec;
    const episode = new RunningEpisode<Task>({ task, seed, episodeId, limits, options, shared });
    episode.listenTo(signal);
    this.#begun = episode;
    this.#hooks = this.#begin(episode);
    episode.hooks = await this.#hooks;
    episode.conversation = toMessages(episode.hooks.messages);
    this.#current = episode;
    return observe(episode);
  }

  async step(action: Action, { signal, onProgress }: StepOptions = {}): Promise<Transition> {
    const episode: RunningEpisode<Task> | undefined = this.#current;
    expectStep(episode);
    signal?.throwIfAborted();
    episode.stepping = true;
    // Reset below if the step succeeds. A step that throws cannot be repeated, because its tools may have acted.
    episode.done = true;
    episode.listenTo(signal);
    try {
      const transition = await this.#advance(episode, action, onProgress);
      episode.done = transition.outcome.kind !== 'running';
      return transition;
    } catch (error) {
      const fault = signal?.aborted ? undefined : networkFault(error);
      if (!fault) throw error;
      const transition = { observation: observe(episode), calls: [], info: {}, outcome: aborted(fault) };
      return withEnvironmentCalls(transition, episode);
    } finally {
      episode.stepping = false;
    }
  }

  close(): Promise<void> {
    return this.#leave();
  }

  tools(): readonly Tool[] {
    return this.#current?.tools() ?? [];
  }

  /** Releases the episode, also while it begins. */
  async #leave(): Promise<void> {
    this.#current = undefined;
    const hooks = this.#hooks;
    this.#hooks = undefined;
    const begun = this.#begun;
    this.#begun = undefined;
    // An episode that could not begin has no hooks to be closed, but may have called tools.
    const episode = await hooks?.catch(() => undefined);
    try {
      await episode?.close?.();
    } finally {
      await begun?.release();
    }
  }

  async #begin(episode: RunningEpisode<Task>): Promise<Episode> {
    const { state, episode: begin } = this.#parts;
    if (state) episode.state = state(episode);
    return begin(episode as Context);
  }

  async #advance(
    episode: RunningEpisode<Task>,
    action: Action,
    onProgress: StepOptions['onProgress'],
  ): Promise<Transition> {
    const isCutOff = action.stopReason === 'length';
    const calls = isCutOff ? [] : await episode.run(action.toolCalls, episode.tools(), { onProgress });
    episode.turn += 1;
    episode.turnCalls = calls;
    episode.calls.push(...calls);
    episode.answer = isCutOff || calls.length > 0 ? undefined : action.text;
    episode.conversation.push(...messagesOf(action, calls));

    // Before the hook, which may change the records that it is given.
    const records = recordsOf(calls);
    // A turn that ran out of tokens is neither a call nor an answer.
    const {
      reply,
      rewrite,
      rewards = {},
      end,
      info = {},
    } = isCutOff ? {} : await react(episode, this.spec.name);
    if (rewrite) episode.conversation = toMessages(rewrite);
    // Not by push(), whose arguments lie on the stack.
    if (reply !== undefined) episode.conversation = episode.conversation.concat(toMessages(reply));
    if (isCutOff) episode.outcome = truncated('max_tokens');
    else if (end !== undefined) episode.outcome = terminated(end);
    else if (episode.turn >= this.spec.limits.maxTurns) episode.outcome = truncated('max_turns');
    if (episode.outcome.kind === 'running') this.#expectReply(episode);

    const scored = await scoreTurn(this.#parts.rewards, rewards as Rewards, episode);
    const { outcome } = episode;
    const transition = {
      observation: observe(episode),
      rewards: outcome.kind === 'truncated' ? scoreTruncation(this.spec.rewards, scored) : scored,
      outcome,
      calls: records,
      info,
    };
    return withEnvironmentCalls(transition, episode);
  }

  /** @throws ToolEnvError `bug.no_reply` if the policy would be asked to answer itself. */
  #expectReply({ conversation }: RunningEpisode<Task>): void {
    if (conversation.at(-1)?.role !== 'assistant') return;
    const message = `${this.spec.name}: onAnswer neither replies nor ends: return a text to reply, or { end: "answered" } to end the episode.`;
    throw new ToolEnvError('bug.no_reply', message);
  }
}

async function react(episode: RunningEpisode, env: string): Promise<TurnDecision> {
  const { hooks, answer, turnCalls } = episode;
  if (answer === undefined)
    return readDecision(await hooks!.onToolResults?.(turnCalls, episode), `${env}: onToolResults`);
  if (!hooks!.onAnswer) return { end: 'answered' };
  return readDecision(await hooks!.onAnswer(answer, episode), `${env}: onAnswer`);
}

function observe(episode: RunningEpisode): Observation {
  const tools = episode.tools().map(({ name, description, inputSchema }) => ({
    name,
    description,
    inputSchema,
  }));
  return { messages: withNewestImages(episode.conversation), tools };
}

function withEnvironmentCalls(transition: Transition, episode: RunningEpisode): Transition {
  const environmentCalls = episode.takeEnvironmentCalls();
  return environmentCalls.length > 0 ? { ...transition, environmentCalls } : transition;
}

function toMessages(said: string | readonly Message[]): Message[] {
  // Copies, because a hook may use the same message object again.
  return typeof said === 'string' ? [{ role: 'user', content: said }] : said.map((each) => ({ ...each }));
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

/** The assistant's turn and the tools' answers to it, as messages. */
function messagesOf(action: Action, calls: readonly ToolCallRecord[]): Message[] {
  if (calls.length === 0) return [turnMessage({ ...action, toolCalls: [] })];
  const answers = calls.map(({ call, text, result }): Message => {
    if (isParseFailure(call)) return { role: 'tool', content: text, toolCallId: '', name: '' };
    const images = resultImages(result);
    const answer = { role: 'tool', content: text, toolCallId: call.id, name: call.name } as const;
    return images.length > 0 ? { ...answer, images } : answer;
  });
  return [turnMessage(action), ...answers];
}
