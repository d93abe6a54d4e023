/** The tools of an episode on an OpenEnv server, and their results. */
import {
  type ContentBlock,
  failure,
  type JsonSchema,
  type Message,
  type Tool,
  ToolEnvError,
  type ToolResult,
  type TurnDecision,
  text,
} from '@toolenv/core';
import { contentText, isObject, leaveOutUnusable } from '@toolenv/core/schemas';
import { ToolNames } from '@toolenv/core/tools';
import { ServedTurn, servedEnd } from '@toolenv/serving';
import type { StepResult } from './frame.ts';
import { refused, type ServerSocket } from './server-socket.ts';

/** The tools that a server lists. */
export function listedTools({ observation }: StepResult, turn: ServerTurn): Tool[] {
  const { tools } = observation;
  if (!Array.isArray(tools)) throw malformed('it lists no tools');
  const names = new ToolNames().of(tools.map((tool) => String(Object(tool).name)));
  return tools.map((tool: unknown) => {
    const { name, description, input_schema: given } = Object(tool);
    if (typeof name !== 'string' || !isObject(given)) throw malformed('a tool has no name or no schema');
    // The server judges what cannot be checked here.
    leaveOutUnusable(given);
    return {
      name: names.get(name)!,
      description: typeof description === 'string' ? description : '',
      inputSchema: given,
      async execute(args, { signal }) {
        const action = { type: 'call_tool', tool_name: name, arguments: args };
        return turn.call(action, signal, callResult);
      },
    };
  });
}

/** The only tool of an environment with its own actions. */
export function actionTool(schema: JsonSchema, description: string, turn: ServerTurn): Tool {
  const { metadata: _, ...properties } = (schema.properties ?? {}) as Record<string, JsonSchema>;
  const inputSchema: JsonSchema = { ...schema, type: 'object', properties };
  leaveOutUnusable(inputSchema);
  return {
    name: 'step',
    description: `Act in the environment. ${description}`.trim(),
    inputSchema,
    async execute(args, { signal }) {
      return turn.call(args, signal, (observation) => text(JSON.stringify(visible(observation))));
    },
  };
}

/** What the policy may read of an observation. */
export function visible({ metadata, done, reward, ...observation }: Record<string, unknown>): object {
  return observation;
}

/** Errors that are not the tool's or the model's. */
const machinery = ['transport_error', 'timeout'];

function callResult({ result, error }: Record<string, unknown>): ToolResult {
  if (isObject(error)) {
    const message = String(error.message);
    if (!machinery.includes(String(error.error_type))) return failure(message);
    throw new ToolEnvError('infrastructure.openenv_error', `The tool's server failed: ${message}`);
  }
  if (!isObject(result) || !Array.isArray(result.content)) {
    return text(typeof result === 'string' ? result : JSON.stringify(result ?? null));
  }
  const { structured_content: data, is_error: isError } = result;
  return {
    content: result.content as ContentBlock[],
    ...(isObject(data) && { structuredContent: data }),
    ...(isError === true && { isError: true }),
  };
}

function malformed(why: string): ToolEnvError {
  return new ToolEnvError('infrastructure.openenv_reply', `The OpenEnv server cannot be used: ${why}.`);
}

/** What the server has said since the policy's last turn. */
export class ServerTurn extends ServedTurn<StepResult> {
  readonly #socket: ServerSocket;

  constructor(socket: ServerSocket) {
    super();
    this.#socket = socket;
  }

  /** Steps, and keeps the reward for the turn's end. Throws as {@link ServerSocket.ask} does. */
  async act(action: object, signal: AbortSignal): Promise<StepResult> {
    const step = await this.#socket.ask('step', action, signal);
    this.add(step);
    return step;
  }

  /** Steps for a tool. An action that the server refuses is a mistake of the model. */
  call(
    action: object,
    signal: AbortSignal,
    read: (observation: Record<string, unknown>) => ToolResult,
  ): Promise<ToolResult> {
    return this.inTurn(async () => {
      try {
        return read((await this.act(action, signal)).observation);
      } catch (error) {
        if (ToolEnvError.isInstance(error) && error.code === refused) return failure(error.message);
        throw error;
      }
    });
  }

  /**
   * What the turn means. The next turn begins.
   * @throws ToolEnvError As {@link servedEnd}.
   */
  end(): TurnDecision<'reward'> {
    const { steps, reward } = this.take();
    const last = steps.find(({ done }) => done);
    if (last) return { rewards: { reward }, end: servedEnd(last.metadata, 'done') };
    const rewritten = steps.findLastIndex(({ metadata }) => metadata.rewritten === true);
    const reply = steps
      .slice(rewritten + 1)
      .flatMap(({ observation }) => readMessages(observation.messages))
      .filter(({ role }) => role === 'user' || role === 'system');
    return {
      rewards: { reward },
      ...(rewritten >= 0 && { rewrite: readMessages(steps[rewritten]!.observation.messages) }),
      ...(reply.length > 0 && { reply }),
    };
  }
}

/** The messages of a list, whose contents may be lists of parts of text; empty if `given` is not a list of messages. The environment's boundary checks them further. */
export function readMessages(given: unknown): Message[] {
  if (!Array.isArray(given)) return [];
  const messages = given.map((each) => {
    const content = isObject(each) && typeof each.role === 'string' ? contentText(each.content) : undefined;
    return content === undefined ? undefined : ({ ...each, content } as Message);
  });
  return messages.every((message) => message !== undefined) ? messages : [];
}
