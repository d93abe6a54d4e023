/** AgentEnv: an episode of an agent that runs its own loop. Its requests are the observations, and actions answer them. */
import {
  type Action,
  aborted,
  type Env,
  type EnvSpec,
  isParseFailure,
  type Message,
  messageOf,
  type Observation,
  type Outcome,
  type Prompts,
  type ResetOptions,
  running,
  type StepOptions,
  type ToolCallRecord,
  ToolEnvError,
  type Transition,
  terminated,
  truncated,
} from '@toolenv/core';
import { expectStep, scoreTruncation, scoreTurn } from '@toolenv/core/env';
import { boundText, callMistake, mistakeText } from '@toolenv/core/tools';
import { type AgentContext, AgentEpisode } from './agent-episode.ts';
import { agentFault, type FaultSource } from './agent-fault.ts';
import type { Gateway } from './gateway.ts';
import type { Malformed, Placed, Turn } from './history.ts';
import { RunningAgent } from './running-agent.ts';

/** What an AgentEnv is made from. */
export interface AgentEnvParts {
  agent(context: AgentContext): unknown;
  state?(context: AgentEpisode): unknown;
  malformed?: Malformed;
  blame?(error: unknown): FaultSource | undefined;
  spec: EnvSpec;
  rewards: Parameters<typeof scoreTurn>[0];
  options: unknown;
  shared: unknown;
  prompts?: Prompts;
  gateway: Gateway;
}

/** Milliseconds that an agent may take to its first request: a program loads its packages first. */
const startTimeout = 60_000;

/** What a turn came to. */
interface Played {
  turn: Pick<Turn, 'observation' | 'message' | 'isDelivered'>;
  next: Placed | 'late' | undefined;
  calls: ToolCallRecord[];
}

/** Plays one episode at a time, as `ToolEnv` does. */
export class AgentEnv<Task> implements Env<Task> {
  readonly spec: EnvSpec;
  readonly #parts: AgentEnvParts;
  readonly #processRewards: ReadonlySet<string>;
  #episode: AgentEpisode<Task> | undefined;
  /** The episode that was begun last, until it is released. */
  #begun: AgentEpisode<Task> | undefined;
  #agent: RunningAgent | undefined;

  constructor(parts: AgentEnvParts) {
    this.spec = parts.spec;
    this.#parts = parts;
    const names = Object.keys(parts.rewards).filter((name) => parts.rewards[name]!.kind === 'process');
    this.#processRewards = new Set(names);
  }

  async reset({
    task,
    seed,
    episodeId = `episode-${seed}`,
    prompts: given,
    signal,
  }: ResetOptions<Task>): Promise<Observation> {
    signal?.throwIfAborted();
    await this.close();
    const { options, shared, state, gateway, malformed = 'text', agent: run } = this.#parts;
    const { limits } = this.spec;
    const prompts = { ...this.#parts.prompts, ...given };
    const episode = new AgentEpisode<Task>({ task, seed, episodeId, limits, options, shared, prompts });
    this.#begun = episode;
    episode.listenTo(signal);
    if (state) episode.state = state(episode as never);
    const agent = new RunningAgent(gateway, malformed);
    this.#agent = agent;
    agent.start((door) => run(this.#contextOf(episode, door) as never));
    const after = Math.max(limits.toolTimeout, startTimeout);
    const first = await agent.next({ after, signal });
    if (first === 'late') throw fault(`The agent sent no request within ${after / 1000} s.`);
    if (!first) throw startFault(agent);
    episode.conversation = [...first.observation.messages];
    this.#episode = episode;
    return first.observation;
  }

  async step(action: Action, { signal }: StepOptions = {}): Promise<Transition> {
    const episode: AgentEpisode<Task> | undefined = this.#episode;
    expectStep(episode);
    signal?.throwIfAborted();
    episode.stepping = true;
    // Reset below if the step succeeds.
    episode.done = true;
    episode.listenTo(signal);
    try {
      const transition = await this.#advance(episode, this.#agent!, action, signal);
      episode.done = transition.outcome.kind !== 'running';
      if (episode.done) this.#agent!.dismiss();
      return transition;
    } finally {
      episode.stepping = false;
    }
  }

  async close(): Promise<void> {
    const [agent, begun] = [this.#agent, this.#begun];
    this.#episode = undefined;
    this.#agent = undefined;
    this.#begun = undefined;
    agent?.dismiss();
    try {
      await agent?.leave();
    } finally {
      await begun?.release();
    }
  }

  async #advance(
    episode: AgentEpisode<Task>,
    agent: RunningAgent,
    given: Action,
    signal: AbortSignal | undefined,
  ): Promise<Transition> {
    episode.turn += 1;
    const isCut = given.stopReason === 'length';
    // A turn that is cut off is neither a call nor an answer.
    const action = isCut ? { ...given, toolCalls: [] } : given;
    const { toolChoice } = agent.waiting.request;
    // A helper whose turn is cut off need not be the end of its agent.
    const isEnd = isCut && agent.waiting.observation.conversation === undefined;
    const { turn, next, calls } = this.#isToCorrect(action)
      ? this.#correct(agent, action)
      : await this.#deliver(agent, action, { isEnd, signal });
    episode.turnCalls = calls;
    episode.calls.push(...calls);
    episode.answer = isCut || calls.length > 0 ? undefined : action.text;
    episode.result = agent.result;
    const { observation } = typeof next === 'object' ? next : turn;
    episode.conversation = [...observation.messages, ...(typeof next === 'object' ? [] : [turn.message])];

    const outcome = isEnd ? truncated('max_tokens') : this.#outcomeOf(episode, agent, next, action);
    const info = {
      ...episode.takeNoted(),
      ...(toolChoice && { toolChoice }),
      ...(outcome.kind !== 'running' && { requests: { ...agent.history.counts } }),
    };
    const common = { observation, calls, info, ...(!turn.isDelivered && { learn: false }) };
    if (outcome.kind === 'aborted') return { ...common, outcome };
    episode.outcome = outcome;
    const scored = await scoreTurn(this.#parts.rewards, episode.takeEarned(), episode);
    const rewards = outcome.kind === 'truncated' ? scoreTruncation(this.spec.rewards, scored) : scored;
    const environmentCalls = episode.takeEnvironmentCalls();
    return { ...common, ...(environmentCalls.length > 0 && { environmentCalls }), outcome, rewards };
  }

  /** Answers the agent, and waits for what it does next. */
  async #deliver(
    agent: RunningAgent,
    action: Action,
    { isEnd, signal }: { isEnd: boolean; signal: AbortSignal | undefined },
  ): Promise<Played> {
    const turn = await agent.answer(action);
    if (isEnd) return { turn, next: undefined, calls: [] };
    const start = performance.now();
    const next = await agent.next({ after: this.spec.limits.toolTimeout, signal });
    return { turn, next, calls: this.#recordsOf(action, turn, next, performance.now() - start) };
  }

  #isToCorrect({ toolCalls }: Action): boolean {
    return this.#parts.malformed === 'correct' && toolCalls.length > 0 && toolCalls.every(isParseFailure);
  }

  /** Tells the policy what is wrong with its calls. The agent still waits for its answer. */
  #correct(agent: RunningAgent, action: Action): Played {
    const { tools } = agent.waiting.request;
    const { maxToolCharacters } = this.spec.limits;
    const calls = action.toolCalls.map((call, index): ToolCallRecord => {
      const mistake = callMistake(call, index, tools, this.spec.limits)!;
      return { call, mistake, text: boundText(mistakeText(mistake), maxToolCharacters), milliseconds: 0 };
    });
    const replies = calls.map(
      ({ text }): Message => ({ role: 'tool', content: text, toolCallId: '', name: '' }),
    );
    return { ...agent.correct(action, replies), calls };
  }

  #outcomeOf(
    { turn }: AgentEpisode<Task>,
    agent: RunningAgent,
    next: Played['next'],
    { toolCalls }: Action,
  ): Outcome {
    // An agent that parses arguments itself throws where they are not JSON.
    const isMisled = this.#parts.malformed === 'call' && toolCalls.some(isParseFailure);
    if (next === 'late') return truncated('deadline');
    if (next) return turn >= this.spec.limits.maxTurns ? truncated('max_turns') : running;
    if (agent.refusal && hasFailedFor(agent.refusal, agent)) throw refused(agent.refusal);
    if (!agent.hasHeard) return aborted(fault('The agent ended before an answer had reached it.'));
    if (!agent.failure) return terminated('answered');
    const { blame } = this.#parts;
    return agentFault(agent.failure.error, (error) => blame?.(error) ?? (isMisled ? 'model' : undefined));
  }

  /** The calls of the action, with what the agent made of them as far as its next request shows it. */
  #recordsOf(
    { toolCalls }: Action,
    { request, served }: Turn,
    next: Played['next'],
    milliseconds: number,
  ): ToolCallRecord[] {
    let shown = 0;
    return toolCalls.map((call, index) => {
      // A call that did not parse may not have been handed on.
      const isServed = !isParseFailure(call) || this.#parts.malformed === 'call';
      const id = isServed ? served.calls[shown++]!.id : '';
      const sent = typeof next === 'object' ? this.#agent!.history.resultOf(id, next.request) : undefined;
      const mistake = callMistake(call, index, request.tools, this.spec.limits);
      const said = sent ?? (mistake ? mistakeText(mistake) : '');
      const text = boundText(said, this.spec.limits.maxToolCharacters);
      if (mistake) return { call, mistake, text, milliseconds };
      const content = sent === undefined ? [] : [{ type: 'text', text: sent }];
      return { call, result: { content }, text, milliseconds };
    });
  }

  #contextOf(
    episode: AgentEpisode<Task>,
    { baseURL, apiKey, signal }: Pick<AgentContext, 'baseURL' | 'apiKey' | 'signal'>,
  ): AgentContext<Task> {
    const { task, state, shared, options, limits, prompt, episodeId, rng } = episode;
    return {
      ...{ task, state, shared, options, limits, prompt, episodeId, rng, baseURL, apiKey, signal },
      fetch: (input, init = {}) => {
        const signals = init.signal ? [signal, init.signal] : [signal];
        return fetch(input, { ...init, signal: AbortSignal.any(signals) });
      },
      reward: (name, value) => episode.earn(name, value, this.#processRewards),
      info: (values) => episode.note(values),
    };
  }
}

function fault(message: string): ToolEnvError {
  return new ToolEnvError('infrastructure.agent', message);
}

/**
 * Whether it is the agent whose request was refused. Later, it may be a program that the model has written, which has the key too, and must not
 * stop the run: then the agent goes on to its end, or fails for another reason.
 */
function hasFailedFor(refusal: Error, { hasHeard, failure }: RunningAgent): boolean {
  if (!hasHeard) return true;
  const { error } = failure ?? {};
  return [error, Object(error).cause].some((each) => messageOf(each).includes(refusal.message));
}

function refused(why: Error): ToolEnvError {
  return new ToolEnvError(
    'usage.agent_request',
    `The agent asks for what the policy does not have. ${why.message}`,
  );
}

/** Why an agent ended before its first request. */
function startFault({ failure, refusal }: RunningAgent): ToolEnvError {
  if (refusal) return refused(refusal);
  if (!failure)
    return fault(
      'The agent ended without a request: give its client the baseURL and the apiKey of its context.',
    );
  const { error } = failure;
  if (ToolEnvError.isInstance(error)) return error;
  return new ToolEnvError(
    'infrastructure.agent',
    `The agent failed before its first request: ${messageOf(error)}`,
    {
      cause: error,
    },
  );
}
