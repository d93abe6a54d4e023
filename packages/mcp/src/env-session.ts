/** EnvSession: one client's episodes. The Env's tools are MCP tools, each call is a turn, and two tools begin and end episodes. */
import { type CallToolResult, ErrorCode, McpError, type Tool } from '@modelcontextprotocol/sdk/types.js';
import {
  type Action,
  type JsonSchema,
  type Observation,
  type ToolCallRecord,
  ToolEnvError,
} from '@toolenv/core';
import { validate } from '@toolenv/core/schemas';
import {
  type EpisodeOptions,
  endText,
  type ScoredTransition,
  type ServedEnv,
  type ServedEpisode,
  ServedEpisodes,
} from '@toolenv/core/serving';
import pLimit, { type LimitFunction } from 'p-limit';

/** Tools that every session has in addition to those of its environment. */
export const resetName = 'episode_reset';
export const answerName = 'episode_answer';
/** Key in the `_meta` of each result for the outcome and rewards of its turn. Models do not see `_meta`. */
const metaKey = 'toolenv/transition';

const episodeTools: Tool[] = [
  {
    name: resetName,
    description: 'Begin an episode. Returns its task.',
    inputSchema: {
      type: 'object',
      properties: {
        task: { type: 'integer', minimum: 0, description: 'index of the task; default: the next task' },
        seed: { type: 'integer', minimum: 0, description: 'default: a different seed for each episode' },
      },
      additionalProperties: false,
    },
    outputSchema: {
      type: 'object',
      properties: {
        task: { type: 'integer' },
        seed: { type: 'integer' },
        messages: { type: 'array', items: { type: 'object' } },
      },
      required: ['task', 'seed', 'messages'],
    },
  },
  {
    name: answerName,
    description: 'Give the final answer to the task.',
    inputSchema: {
      type: 'object',
      properties: { text: { type: 'string' } },
      required: ['text'],
      additionalProperties: false,
    },
    outputSchema: {
      type: 'object',
      properties: { outcome: { type: 'object' }, rewards: { type: 'object' } },
      required: ['outcome', 'rewards'],
    },
  },
];

export class EnvSession<Task> {
  readonly #episodes: ServedEpisodes<Task>;
  readonly #toolsChanged: () => Promise<void>;
  /** The last episode that was handed out, which the client knows. */
  #handedOut: ServedEpisode | undefined;
  readonly #oneAtATime: LimitFunction = pLimit(1);

  constructor(served: ServedEnv<Task>, options: EpisodeOptions, toolsChanged: () => Promise<void>) {
    this.#episodes = new ServedEpisodes(served, options);
    this.#toolsChanged = toolsChanged;
  }

  get name(): string {
    return this.#episodes.name;
  }

  /** Runs one task at a time: a client may send concurrent calls, but an Env takes one step at a time. */
  inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    return this.#oneAtATime(work);
  }

  async listTools(signal: AbortSignal): Promise<Tool[]> {
    const { tools } = await this.observe(signal);
    const clash = tools.find(({ name }) => name === resetName || name === answerName);
    if (clash) {
      const message = `${this.name} has a tool "${clash.name}", but sessions use that name themselves: rename the tool.`;
      throw new ToolEnvError('usage.mcp_tool_name', message);
    }
    const own = tools.map(({ name, description, inputSchema }) => ({
      name,
      description,
      inputSchema: { ...inputSchema, type: 'object' as const },
    }));
    return [...own, ...episodeTools];
  }

  /** The current observation. Begins the first episode if there is none. */
  async observe(signal: AbortSignal): Promise<Observation> {
    return (this.#episodes.current ?? (await this.#begin({}, signal))).observation;
  }

  async call(name: string, args: Record<string, unknown>, signal: AbortSignal): Promise<CallToolResult> {
    const own = episodeTools.find((tool) => tool.name === name);
    const [wrong] = own ? validate(own.inputSchema as JsonSchema, args) : [];
    if (wrong) {
      const what = `expected ${wrong.expected}; received ${wrong.received}`;
      return mistake(`${wrong.path || 'arguments'}: ${what}.`);
    }
    if (name === resetName) return this.#reset(args, signal);
    const episode = this.#episodes.current ?? (await this.#begin({}, signal));
    if (episode.outcome.kind !== 'running') {
      return mistake(`The episode has ended (${endText(episode.outcome)}): call ${resetName} for another.`);
    }
    if (name === answerName) {
      const action: Action = { text: String(args.text), toolCalls: [], stopReason: 'stop' };
      return answerResult(await this.#step(action, signal));
    }
    const id = `call-${episode.steps}`;
    const toolCalls = [{ id, name, arguments: args }];
    return callResult(await this.#step({ text: '', toolCalls, stopReason: 'tool_call' }, signal));
  }

  async close(): Promise<void> {
    await this.inTurn(() => this.#episodes.env.close());
  }

  async #reset(wanted: { task?: number; seed?: number }, signal: AbortSignal): Promise<CallToolResult> {
    const current = this.#episodes.current;
    const fresh = current !== undefined && current !== this.#handedOut && current.steps === 0;
    const any = wanted.task === undefined && wanted.seed === undefined;
    // Listing the tools may have begun an episode that has not been played yet.
    const episode = fresh && any ? current : await this.#begin(wanted, signal);
    this.#handedOut = episode;
    const { task, seed, observation } = episode;
    const content = observation.messages.map((message) => ({ type: 'text' as const, text: message.content }));
    return { content, structuredContent: { task, seed, messages: observation.messages } };
  }

  async #begin(wanted: { task?: number; seed?: number }, signal: AbortSignal): Promise<ServedEpisode> {
    const { taskCount, current } = this.#episodes;
    if (wanted.task !== undefined && wanted.task >= taskCount) {
      const message = `There is no task ${wanted.task}: choose one below ${taskCount}.`;
      throw new McpError(ErrorCode.InvalidParams, message);
    }
    const episode = await this.#episodes.begin(wanted, signal);
    if (current) await this.#compareTools(current.observation, episode.observation);
    return episode;
  }

  async #step(action: Action, signal: AbortSignal): Promise<ScoredTransition> {
    const before = this.#episodes.current!.observation;
    const transition = await this.#episodes.step(action, signal);
    await this.#compareTools(before, transition.observation);
    return transition;
  }

  async #compareTools(before: Observation, now: Observation): Promise<void> {
    if (JSON.stringify(before.tools) !== JSON.stringify(now.tools)) await this.#toolsChanged();
  }
}

/** The text that a policy would read, then the blocks that are not text. */
function callResult({ calls: [record], outcome, rewards }: ScoredTransition): CallToolResult {
  const { text = '', result, mistake } = record ?? ({} as Partial<ToolCallRecord>);
  const content: CallToolResult['content'] = [{ type: 'text', text }];
  const others = result?.content.filter(({ type }) => type !== 'text') ?? [];
  content.push(...(others as CallToolResult['content']));
  if (outcome.kind !== 'running') {
    content.push({ type: 'text', text: `The episode has ended (${endText(outcome)}).` });
  }
  const data = result?.structuredContent;
  const isObject = typeof data === 'object' && data !== null && !Array.isArray(data);
  return {
    content,
    ...(isObject && { structuredContent: data as Record<string, unknown> }),
    ...((mistake || result?.isError) && { isError: true }),
    _meta: { [metaKey]: { outcome, rewards } },
  };
}

function answerResult({ outcome, rewards, observation }: ScoredTransition): CallToolResult {
  const goesOn = outcome.kind === 'running';
  // An environment may reply to an answer and continue the episode.
  const reply = goesOn ? observation.messages.at(-1)?.content : undefined;
  const text = goesOn ? (reply ?? '') : `The episode has ended (${endText(outcome)}).`;
  return {
    content: [{ type: 'text', text }],
    structuredContent: { outcome, rewards },
    _meta: { [metaKey]: { outcome, rewards } },
  };
}

function mistake(text: string): CallToolResult {
  return { content: [{ type: 'text', text }], isError: true };
}
