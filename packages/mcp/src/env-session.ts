/** EnvSession: one client's episodes. The Env's tools are MCP tools, each call is a turn, and two tools begin and end episodes. */
import { type CallToolResult, ErrorCode, McpError, type Tool } from '@modelcontextprotocol/sdk/types.js';
import {
  type Action,
  deriveSeed,
  type Env,
  type EnvHandle,
  type JsonSchema,
  type Observation,
  type Outcome,
  running,
  type Split,
  type TaskSet,
  type ToolCallRecord,
  ToolEnvError,
  type Transition,
} from '@toolenv/core';
import { validate } from '@toolenv/core/schemas';
import pLimit, { type LimitFunction } from 'p-limit';

/** The part of an open environment that serving needs. */
export type ServedEnv<Task> = Pick<
  EnvHandle<Task>,
  'tasks' | 'episode' | 'ref' | 'packageVersion' | 'capabilities'
>;

export interface EpisodeOptions {
  /** The split whose tasks are played. Default `test`. */
  split?: Split;
  /** Seeds the episodes of each session, together with their number in the session. Default 1. */
  seed?: number;
}

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

interface Episode {
  task: number;
  seed: number;
  observation: Observation;
  /** `cancelled`: the client cancelled a turn, whose tools may have acted. */
  outcome: Outcome | { kind: 'cancelled' };
  steps: number;
  handedOut: boolean;
}

/** @throws ToolEnvError `usage.mcp_no_tasks` if the split has no tasks. */
export function tasksOf<Task>({ tasks }: ServedEnv<Task>, split: Split = 'test'): TaskSet<Task> {
  if (tasks[split].length > 0) return tasks[split];
  const message = `The environment has no tasks in its split "${split}": serve another split.`;
  throw new ToolEnvError('usage.mcp_no_tasks', message);
}

export class EnvSession<Task> {
  readonly name: string;
  readonly #env: Env<Task>;
  readonly #tasks: TaskSet<Task>;
  readonly #seed: number;
  readonly #toolsChanged: () => Promise<void>;
  #episode: Episode | undefined;
  /** Number of episodes begun. */
  #count = 0;
  readonly #oneAtATime: LimitFunction = pLimit(1);

  constructor(
    served: ServedEnv<Task>,
    { split, seed = 1 }: EpisodeOptions,
    toolsChanged: () => Promise<void>,
  ) {
    this.#env = served.episode();
    this.name = served.ref ?? this.#env.spec.name;
    this.#tasks = tasksOf(served, split);
    this.#seed = seed;
    this.#toolsChanged = toolsChanged;
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
    return (this.#episode ?? (await this.#begin({}, signal))).observation;
  }

  async call(name: string, args: Record<string, unknown>, signal: AbortSignal): Promise<CallToolResult> {
    const own = episodeTools.find((tool) => tool.name === name);
    const [wrong] = own ? validate(own.inputSchema as JsonSchema, args) : [];
    if (wrong) {
      const what = `expected ${wrong.expected}; received ${wrong.received}`;
      return mistake(`${wrong.path || 'arguments'}: ${what}.`);
    }
    if (name === resetName) return this.#reset(args, signal);
    const episode = this.#episode ?? (await this.#begin({}, signal));
    if (episode.outcome.kind !== 'running') {
      return mistake(`The episode has ended (${endText(episode.outcome)}): call ${resetName} for another.`);
    }
    if (name === answerName) {
      const action: Action = { text: String(args.text), toolCalls: [], stopReason: 'stop' };
      return answerResult(await this.#step(episode, action, signal));
    }
    const id = `call-${episode.steps}`;
    const toolCalls = [{ id, name, arguments: args }];
    return callResult(await this.#step(episode, { text: '', toolCalls, stopReason: 'tool_call' }, signal));
  }

  async close(): Promise<void> {
    await this.inTurn(() => this.#env.close());
  }

  async #reset(wanted: { task?: number; seed?: number }, signal: AbortSignal): Promise<CallToolResult> {
    const fresh = this.#episode && !this.#episode.handedOut && this.#episode.steps === 0;
    const any = wanted.task === undefined && wanted.seed === undefined;
    // Listing the tools may have begun an episode that has not been played yet.
    const episode = fresh && any ? this.#episode! : await this.#begin(wanted, signal);
    episode.handedOut = true;
    const { task, seed, observation } = episode;
    const content = observation.messages.map((message) => ({ type: 'text' as const, text: message.content }));
    return { content, structuredContent: { task, seed, messages: observation.messages } };
  }

  async #begin(wanted: { task?: number; seed?: number }, signal: AbortSignal): Promise<Episode> {
    const { length } = this.#tasks;
    const { task = this.#count % length, seed = deriveSeed(this.#seed, this.#count) } = wanted;
    if (task >= length) {
      throw new McpError(ErrorCode.InvalidParams, `There is no task ${task}: choose one below ${length}.`);
    }
    const before = this.#episode?.observation;
    this.#episode = undefined;
    const observation = await this.#env.reset({ task: this.#tasks.get(task), seed, signal });
    this.#count += 1;
    this.#episode = { task, seed, observation, outcome: running, steps: 0, handedOut: false };
    if (before) await this.#compareTools(before, observation);
    return this.#episode;
  }

  async #step(
    episode: Episode,
    action: Action,
    signal: AbortSignal,
  ): Promise<Exclude<Transition, { rewards?: undefined }>> {
    const before = episode.observation;
    // Replaced if the step succeeds. A step that throws cannot be repeated.
    episode.outcome = { kind: 'cancelled' };
    episode.steps += 1;
    const transition = await this.#env.step(action, { signal });
    episode.outcome = transition.outcome;
    episode.observation = transition.observation;
    if (!transition.rewards) throw transition.outcome.cause;
    await this.#compareTools(before, transition.observation);
    return transition;
  }

  async #compareTools(before: Observation, now: Observation): Promise<void> {
    if (JSON.stringify(before.tools) !== JSON.stringify(now.tools)) await this.#toolsChanged();
  }
}

type Scored = Exclude<Transition, { rewards?: undefined }>;

/** The text that a policy would read, then the blocks that are not text. */
function callResult({ calls: [record], outcome, rewards }: Scored): CallToolResult {
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

function answerResult({ outcome, rewards, observation }: Scored): CallToolResult {
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

function endText(outcome: Episode['outcome']): string {
  return 'reason' in outcome ? `${outcome.kind}: ${outcome.reason}` : outcome.kind;
}
