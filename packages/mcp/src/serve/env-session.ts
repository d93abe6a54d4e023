/** EnvSession: one episode, as an agent plays it. The Env's tools are MCP tools, each call is a turn, and `answer` answers. */
import { randomUUID } from 'node:crypto';
import type { CallToolResult, Tool } from '@modelcontextprotocol/server';
import {
  type Action,
  type JsonSchema,
  type Observation,
  type Rewards,
  type ScoredTransition,
  type StepOptions,
  sumRewards,
  type ToolCallRecord,
  weigh,
} from '@toolenv/core';
import { validate } from '@toolenv/core/schemas';
import {
  answerToolNamed,
  closeWithTimeout,
  type EpisodeOptions,
  type ServedEnv,
  type ServedEpisode,
  ServedEpisodes,
  type WantedEpisode,
} from '@toolenv/serving';
import pLimit, { type LimitFunction } from 'p-limit';
import type { RecordedOutcome, ScoreRecord } from './score-record.ts';

/** The tool that every session has in addition to those of its environment. */
export const answerName = 'answer';

const answerTool: Tool = answerToolNamed(answerName);

/** Without the reason and the rewards, because an agent that knew them could grade itself. */
const ended = 'The episode has ended.';

export interface EnvSessionOptions extends EpisodeOptions {
  /** Numbers the episodes of all sessions. */
  next(): number;
  /** Called once, when the episode has ended or the session is closed after it has begun. */
  onScore(record: ScoreRecord): void;
}

/** What an agent's request brings. `onProgress`: passes on the progress of its call, if the agent asked for it. */
export interface AgentRequest extends StepOptions {
  signal: AbortSignal;
}

/** Makes the sessions of a service. */
export interface SessionSource {
  /** Reference of the environment. */
  readonly name: string;
  readonly version: string | undefined;
  /** @param wanted Default: the next task. */
  open(wanted?: WantedEpisode): EnvSession;
  /** Makes a session of the first task, of which nothing is recorded. */
  probe(): EnvSession;
  /** Called with the causes of aborted episodes, and with errors that are bugs of the environment. */
  onError(error: unknown): void;
}

export class EnvSession<Task = unknown> {
  /** The handle of the episode. It cannot be guessed. */
  readonly id: string = randomUUID();
  readonly #episodes: ServedEpisodes<Task>;
  readonly #wanted: WantedEpisode;
  readonly version: string | undefined;
  readonly #onScore: (record: ScoreRecord) => void;
  readonly #rewards: { rewards: Rewards }[] = [];
  /** A client may send concurrent calls, but an Env takes one step at a time. */
  readonly #inTurn: LimitFunction = pLimit(1);
  #begun: Date | undefined;
  #isScored = false;
  #closing: Promise<void> | undefined;
  /** Called when the environment offers other tools. */
  readonly toolsChanged: Set<() => void> = new Set();

  /** @param wanted Default: the next task. */
  constructor(served: ServedEnv<Task>, options: EnvSessionOptions, wanted: WantedEpisode = {}) {
    const { next, onScore, ...episodes } = options;
    let number: number | undefined;
    // An episode that could not begin keeps its number, so that failing does not bring another task.
    this.#episodes = new ServedEpisodes(served, episodes, () => {
      number ??= next();
      return number;
    });
    this.version = served.packageVersion;
    this.#wanted = wanted;
    this.#onScore = onScore;
  }

  get name(): string {
    return this.#episodes.name;
  }

  get taskCount(): number | Promise<number> {
    return this.#episodes.taskCount;
  }

  /** Whether the episode has begun and has not ended. */
  get isRunning(): boolean {
    return this.#episodes.current?.outcome.kind === 'running';
  }

  /** The episode. Begins it if it has not begun. */
  begin(signal: AbortSignal): Promise<ServedEpisode> {
    return this.#inTurn(() => this.#begin(signal));
  }

  async #begin(signal: AbortSignal): Promise<ServedEpisode> {
    if (this.#episodes.current) return this.#episodes.current;
    const episode = await this.#episodes.begin(this.#wanted, signal);
    this.#begun = new Date();
    return episode;
  }

  /** The score so far; `undefined` before the episode has begun. */
  get score(): ScoreRecord | undefined {
    const { current, env } = this.#episodes;
    if (!current || !this.#begun) return undefined;
    const outcome = recorded(current.outcome);
    const rewards = sumRewards(env.spec.rewards, this.#rewards);
    return {
      episode: this.id,
      env: this.name,
      version: this.version,
      task: current.task,
      seed: current.seed,
      outcome,
      ...(outcome.kind !== 'aborted' && { rewards, reward: weigh(env.spec.rewards, rewards) }),
      turns: current.steps,
      begun: this.#begun.toISOString(),
    };
  }

  async listTools(signal: AbortSignal): Promise<Tool[]> {
    const { tools } = await this.observe(signal);
    this.#episodes.refuseTool(answerName, tools, 'usage.mcp_tool_name');
    const offered = new Map(this.#episodes.env.tools?.().map((tool) => [tool.name, tool]));
    const own = tools.map(({ name, description, inputSchema }): Tool => {
      const { annotations } = offered.get(name) ?? {};
      return {
        name,
        ...(annotations?.title !== undefined && { title: annotations.title }),
        description,
        inputSchema: { ...inputSchema, type: 'object' as const },
        ...(annotations && { annotations }),
      };
    });
    return [...own, answerTool];
  }

  async observe(signal: AbortSignal): Promise<Observation> {
    return (await this.begin(signal)).observation;
  }

  call(name: string, args: Record<string, unknown>, request: AgentRequest): Promise<CallToolResult> {
    return this.#inTurn(() => this.#call(name, args, request));
  }

  async #call(name: string, args: Record<string, unknown>, request: AgentRequest): Promise<CallToolResult> {
    const isAnswer = name === answerName;
    const [wrong] = isAnswer ? validate(answerTool.inputSchema as JsonSchema, args) : [];
    if (wrong) {
      const what = `expected ${wrong.expected}; received ${wrong.received}`;
      return mistake(`${wrong.path || 'arguments'}: ${what}.`);
    }
    const episode = await this.#begin(request.signal);
    if (episode.outcome.kind !== 'running') return mistake(ended);
    if (isAnswer) {
      const action: Action = { text: String(args.text), toolCalls: [], stopReason: 'stop' };
      return answerResult(await this.#step(action, request));
    }
    const toolCalls = [{ id: `call-${episode.steps}`, name, arguments: args }];
    return callResult(await this.#step({ text: '', toolCalls, stopReason: 'tool_call' }, request));
  }

  /** Closes the Env, after the turn in progress. An episode that still runs is recorded as cancelled. */
  close(): Promise<void> {
    this.#closing ??= this.#inTurn(async () => {
      const { current, env } = this.#episodes;
      if (current?.outcome.kind === 'running') current.outcome = { kind: 'cancelled' };
      this.#record();
      await closeWithTimeout(env, this.name);
    });
    return this.#closing;
  }

  async #step(action: Action, { signal, onProgress }: AgentRequest): Promise<ScoredTransition> {
    const before = this.#episodes.current!.observation;
    try {
      const transition = await this.#episodes.step(action, signal, onProgress);
      this.#rewards.push(transition);
      if (JSON.stringify(before.tools) !== JSON.stringify(transition.observation.tools)) {
        for (const notify of this.toolsChanged) notify();
      }
      return transition;
    } finally {
      if (this.#episodes.current!.outcome.kind !== 'running') this.#record();
    }
  }

  #record(): void {
    const { score } = this;
    if (this.#isScored || !score) return;
    this.#isScored = true;
    this.#onScore(score);
  }
}

function recorded(outcome: ServedEpisode['outcome']): RecordedOutcome {
  if (outcome.kind !== 'aborted') return outcome;
  const { code, message } = outcome.cause;
  return { kind: 'aborted', code, message };
}

/** The text that a policy would read, then the blocks that are not text. */
function callResult({ calls: [record], outcome }: ScoredTransition): CallToolResult {
  const { text = '', result, mistake } = record ?? ({} as Partial<ToolCallRecord>);
  const content: CallToolResult['content'] = [{ type: 'text', text }];
  const others = result?.content.filter(({ type }) => type !== 'text') ?? [];
  content.push(...(others as CallToolResult['content']));
  if (outcome.kind !== 'running') content.push({ type: 'text', text: ended });
  const data = result?.structuredContent;
  const isObject = typeof data === 'object' && data !== null && !Array.isArray(data);
  return {
    content,
    ...(isObject && { structuredContent: data as Record<string, unknown> }),
    ...((mistake || result?.isError) && { isError: true }),
  };
}

/** An environment may reply to an answer and continue the episode. */
function answerResult({ outcome, observation }: ScoredTransition): CallToolResult {
  const reply = outcome.kind === 'running' ? observation.messages.at(-1)?.content : ended;
  return { content: [{ type: 'text', text: reply ?? '' }] };
}

/** A result that says what was wrong with a call. */
export function mistake(text: string): CallToolResult {
  return { content: [{ type: 'text', text }], isError: true };
}
