/** The tools of an episode on an ORS server, and the tool that takes an answer. */
import { type JsonSchema, type Tool, ToolEnvError, type ToolResult, type TurnDecision } from '@toolenv/core';
import { didYouMean, isObject, leaveOutUnusable } from '@toolenv/core/schemas';
import { ToolNames } from '@toolenv/core/tools';
import { ServedTurn, servedEnd } from '@toolenv/serving';
import type { OrsSession } from './ors-session.ts';
import { maxReward, type ToolOutput } from './tool-output.ts';

/** The tool that a text answer goes to. */
export interface AnswerTool {
  name: string;
  /** The argument that has the text; `undefined` for a tool that looks at the state only. */
  argument: string | undefined;
}

export interface ListedTools {
  /** What the policy may call. */
  tools: Tool[];
  answer: AnswerTool | undefined;
}

/** Names of tools that take an answer, if their only required argument is a text. */
const answerNames: readonly string[] = ['submit', 'answer', 'submit_answer'];

/**
 * @param given The answer to `task_tools`.
 * @param chosen The name of the tool that takes an answer; by default, the server's terminal tool, or a tool such as `submit`.
 * @throws Error that says what is wrong; ToolEnvError `usage.ors_answer_tool` if there is no tool `chosen`.
 */
export function readTools(given: unknown, turn: ServerTurn, chosen: string | undefined): ListedTools {
  const { tools: list, terminal_tool: terminal } = Object(given);
  if (!Array.isArray(list)) throw new Error('the tools are not a list');
  const tools = list.map((each: unknown) => readTool(each, turn));
  const names = tools.map(({ name }) => name);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw new Error(`the tool "${twice.slice(0, 100)}" is listed twice`);
  if (chosen === undefined && isObject(terminal)) {
    const { name, arg } = terminal;
    if (typeof name !== 'string' || !(arg === undefined || arg === null || typeof arg === 'string'))
      throw new Error('the terminal tool lacks its name or the name of its argument');
    // The policy writes its answer as a text, and does not see the tool.
    return {
      tools: forModels(tools.filter((tool) => tool.name !== name)),
      answer: { name, argument: arg ?? undefined },
    };
  }
  const takers = chosen === undefined ? answerNames : [chosen];
  const tool = tools.find((each) => takers.includes(each.name) && textArgument(each) !== undefined);
  if (tool) return { tools: forModels(tools), answer: { name: tool.name, argument: textArgument(tool) } };
  if (chosen === undefined) return { tools: forModels(tools), answer: undefined };
  const message = `The environment has no tool "${chosen}" whose only required argument is a text. ${didYouMean(chosen, names, 'Tools')}`;
  throw new ToolEnvError('usage.ors_answer_tool', message);
}

/** The tools, under names that models may call. They call the server by its own. */
function forModels(tools: readonly Tool[]): Tool[] {
  const names = new ToolNames().of(tools.map(({ name }) => name));
  return tools.map((tool) => ({ ...tool, name: names.get(tool.name)! }));
}

function readTool(given: unknown, turn: ServerTurn): Tool {
  const { name, description, input_schema: schema = null } = Object(given);
  if (typeof name !== 'string' || name === '') throw new Error('a tool has no name');
  if (schema !== null && !isObject(schema))
    throw new Error(`the input_schema of the tool "${name.slice(0, 100)}" is not an object`);
  const inputSchema: JsonSchema = { type: 'object', ...(schema as JsonSchema | null) };
  // The server judges what cannot be checked here.
  leaveOutUnusable(inputSchema);
  return {
    name,
    description: typeof description === 'string' ? description : '',
    inputSchema,
    execute: (args, { signal }) => turn.call(name, args, signal),
  };
}

/** The only required argument, if it is a text. */
function textArgument({ inputSchema: { properties, required } }: Tool): string | undefined {
  const [name, ...others] = Array.isArray(required) ? required : [];
  if (typeof name !== 'string' || others.length > 0 || !isObject(properties)) return undefined;
  const { type } = Object(properties[name]) as { type?: unknown };
  return type === 'string' ? name : undefined;
}

/** What the calls of the policy's turn have led to on the server. */
export class ServerTurn extends ServedTurn<ToolOutput> {
  readonly #session: OrsSession;

  constructor(session: OrsSession) {
    super();
    this.#session = session;
  }

  /** Calls a tool, and keeps the reward for the turn's end. */
  call(name: string, args: Record<string, unknown>, signal: AbortSignal): Promise<ToolResult> {
    return this.inTurn(async () => {
      const output = await this.#session.call(name, args, signal);
      this.add(output);
      return output.result;
    });
  }

  /**
   * What the turn means. The next turn begins.
   * @throws ToolEnvError As {@link servedEnd}.
   */
  end(): TurnDecision<'reward'> {
    const { steps, reward } = this.take();
    const last = steps.find(({ done }) => done);
    const metadata = steps.flatMap(({ metadata }) => (metadata ? [metadata] : []));
    return {
      rewards: { reward: reward === null ? null : Math.max(-maxReward, Math.min(maxReward, reward)) },
      ...(last && { end: servedEnd(last.metadata, 'finished') }),
      ...(metadata.length > 0 && { info: { metadata } }),
    };
  }
}
