/** ToolEnv: plays episodes of tool calls and answers, as their author's hooks decide. */
import { networkFault } from '../boundary/machinery-fault.ts';
import type { Action } from '../protocol/action.ts';
import type { Env, EnvSpec, ResetOptions, StepOptions, Transition } from '../protocol/env.ts';
import { ToolEnvError } from '../protocol/errors.ts';
import type { Observation } from '../protocol/message.ts';
import { aborted, running, terminated, truncated } from '../protocol/outcome.ts';
import type { Prompts } from '../protocol/prompts.ts';
import { type Rewards, scoreTruncation } from '../protocol/reward.ts';
import type { Tool } from '../protocol/tool.ts';
import type { Episode, EpisodeContext, TurnResult } from './episode.ts';
import type { PlayerBinding } from './open-players.ts';
import { readDecision } from './read-decision.ts';
import { readEpisode } from './read-episode.ts';
import type { ScoredReward } from './reward-declaration.ts';
import { expectStep, RunningEpisode } from './running-episode.ts';
import { scoreTurn } from './score-turn.ts';
import { messagesOf, observationOf, toMessages } from './turn-messages.ts';

/** What a ToolEnv is made from. */
export interface ToolEnvParts<Task, Context = EpisodeContext<Task>> {
  spec: EnvSpec;
  rewards: Readonly<Record<string, ScoredReward<Context>>>;
  options?: unknown;
  shared?: unknown;
  seats?: ReadonlyMap<string, PlayerBinding>;
  prompts?: Prompts;
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
  /** The beginning or the step that is under way. It outlasts its step if its hook waits for a player. */
  #work: Promise<Partial<Transition>> | undefined;
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
    const { options, shared, seats } = this.#parts;
    const { limits } = this.spec;
    const prompts = { ...this.#parts.prompts, ...begun.prompts };
    const start = { task, seed, episodeId, limits, options, shared, seats, prompts };
    const episode = new RunningEpisode<Task>(start);
    episode.listenTo(signal);
    this.#begun = episode;
    this.#hooks = this.#begin(episode);
    this.#work = this.#hooks.then((hooks) => {
      this.#expectAnswers(episode);
      episode.hooks = readEpisode(hooks, this.spec.name);
      episode.conversation = toMessages(episode.hooks.messages);
      return { observation: observationOf(episode.conversation, episode.tools()) };
    });
    // Calls that the environment makes as it begins belong to the first step.
    const { observation } = await this.#untilTurn(episode);
    this.#current = episode;
    return observation!;
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
      // A hook may wait for the turn of a player that the policy plays too.
      if (episode.rendezvous.waiting !== undefined) episode.rendezvous.answer(action);
      else this.#work = this.#advance(episode, action, onProgress);
      const transition = toTransition(episode, await this.#untilTurn(episode));
      episode.done = transition.outcome.kind !== 'running';
      return transition;
    } catch (error) {
      const fault = signal?.aborted ? undefined : networkFault(error);
      if (!fault) throw error;
      return toTransition(episode, { outcome: aborted(fault), calls: [], rewards: undefined });
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
    const [hooks, work] = [this.#hooks, this.#work];
    [this.#hooks, this.#work] = [undefined, undefined];
    const begun = this.#begun;
    this.#begun = undefined;
    if (begun?.rendezvous.waiting !== undefined) {
      begun.rendezvous.abandon(new DOMException('The episode was closed.', 'AbortError'));
      await work?.catch(() => {});
    }
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
  ): Promise<Partial<Transition>> {
    const isCutOff = action.stopReason === 'length';
    episode.isCalling = true;
    const asked = isCutOff ? [] : action.toolCalls;
    const calls = asked.length === 0 ? [] : await episode.runOf('policy', asked, episode.tools(), onProgress);
    episode.isCalling = false;
    episode.turn += 1;
    episode.turnCalls = calls;
    episode.calls.push(...calls);
    episode.answer = isCutOff || calls.length > 0 ? undefined : action.text;
    episode.conversation.push(...messagesOf(action, calls));

    const hook = episode.answer === undefined ? 'onToolResults' : 'onAnswer';
    // A turn that ran out of tokens is neither a call nor an answer.
    const {
      reply,
      rewrite,
      rewards = {},
      playerRewards = {},
      end,
      info = {},
    } = isCutOff ? {} : readDecision(await react(episode), this.spec.name, hook, this.#parts.seats);
    if (rewrite) episode.conversation = toMessages(rewrite);
    // Not by push(), whose arguments lie on the stack.
    if (reply !== undefined) for (const message of toMessages(reply)) episode.conversation.push(message);
    if (isCutOff) episode.outcome = truncated('max_tokens');
    else if (end !== undefined) episode.outcome = terminated(end);
    else if (episode.turn >= this.spec.limits.maxTurns) episode.outcome = truncated('max_turns');
    if (episode.outcome.kind === 'running') this.#expectReply(episode);

    const scored = await scoreTurn(this.#parts.rewards, rewards as Rewards, episode);
    this.#expectAnswers(episode);
    const { outcome } = episode;
    const { rewards: declared, players } = this.spec;
    const complete = (given: Rewards) =>
      outcome.kind === 'truncated' ? scoreTruncation(declared, given) : given;
    const scores = { rewards: complete(scored), outcome, info };
    if (!players?.length) return scores;
    const ofPlayers = players.map((name) => [name, complete({ ...playerRewards[name] } as Rewards)]);
    return { ...scores, playerRewards: Object.fromEntries(ofPlayers) };
  }

  /** Waits until the work under way has ended, or its hook waits for a player that the policy plays too. */
  #untilTurn(episode: RunningEpisode<Task>): Promise<Partial<Transition>> {
    const work = this.#work!;
    if (!episode.hasPlayers) return work;
    // It may fail while its hook waits, after the last step.
    work.catch(() => {});
    const asked = episode.rendezvous.next().then((observation) => ({ observation }));
    asked.catch(() => {});
    return Promise.race([work, asked]);
  }

  /** @throws ToolEnvError `bug.environment` if the next action of the policy would be the answer of another player. */
  #expectAnswers({ rendezvous: { waiting } }: RunningEpisode<Task>): void {
    if (waiting === undefined) return;
    const problem = `a hook ended while the player "${waiting}" was asked`;
    const remedy = 'await every ask, such as Promise.all([…])';
    throw new ToolEnvError('bug.environment', `${this.spec.name}: ${problem}: ${remedy}.`);
  }

  /** @throws ToolEnvError `bug.no_reply` if the policy would be asked to answer itself. */
  #expectReply({ conversation }: RunningEpisode<Task>): void {
    if (conversation.at(-1)?.role !== 'assistant') return;
    const message = `${this.spec.name}: onAnswer neither replies nor ends: return a text to reply, or { end: "answered" } to end the episode.`;
    throw new ToolEnvError('bug.no_reply', message);
  }
}

/** What the hook of the turn returns. */
function react(episode: RunningEpisode): TurnResult | Promise<TurnResult> {
  const { hooks, answer, turnCalls } = episode;
  if (answer === undefined) return hooks!.onToolResults?.(turnCalls, episode);
  return hooks!.onAnswer ? hooks!.onAnswer(answer, episode) : { end: 'answered' };
}

/** What a step returns of the episode as it is. */
function toTransition(episode: RunningEpisode, changed: Partial<Transition> = {}): Transition {
  const transition = {
    observation: observationOf(episode.conversation, episode.tools()),
    rewards: {},
    outcome: running,
    calls: episode.takeStepCalls(),
    info: {},
    ...changed,
  } as Transition;
  const environmentCalls = episode.takeEnvironmentCalls();
  if (environmentCalls.length > 0) transition.environmentCalls = environmentCalls;
  return transition;
}
