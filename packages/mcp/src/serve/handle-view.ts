/**
 * HandleView: shows many episodes to clients without sessions (MCP 2026-07-28, basic#statelessness). A prompt opens an episode and
 * returns its handle, and each call of a tool names the handle. Opening is a prompt and not a tool, because a program chooses
 * prompts and a model chooses tools: a model stays in the episode that it was given.
 */
import {
  type CallToolResult,
  type GetPromptResult,
  type Prompt,
  ProtocolError,
  ProtocolErrorCode,
  type Tool,
} from '@modelcontextprotocol/server';
import { ToolEnvError } from '@toolenv/core';
import { type AgentView, toPrompt } from './agent-server.ts';
import {
  type AgentRequest,
  answerName,
  type EnvSession,
  mistake,
  type SessionSource,
} from './env-session.ts';
import { OpenEpisodes } from './open-episodes.ts';

/** The parameter that every tool has in addition to its own. */
const parameter = 'episode';
const described = { type: 'string', description: 'Handle of the episode.' };

/** Key of the handle in the `_meta` of the prompt `open`, for programs. */
const handleKey = 'toolenv/episode';

interface Hooks {
  /** @throws ProtocolError if there is no room for another episode. */
  assertRoom(): void;
  /** Milliseconds without a call after which an episode ends. */
  idleTimeout: number;
}

interface OpenEpisode {
  session: EnvSession;
}

export class HandleView implements AgentView {
  readonly instructions: string;
  readonly toolsChange = false;
  readonly prompts: readonly Prompt[] = [
    { name: 'open', description: 'Opens the next episode: its task, and its handle.' },
    {
      name: 'observation',
      description: 'The current conversation of an episode.',
      arguments: [{ name: parameter, description: described.description, required: true }],
    },
  ];
  readonly episodes: OpenEpisodes<OpenEpisode>;
  readonly #source: SessionSource;
  readonly #assertRoom: Hooks['assertRoom'];
  /** The tools of the first episode. The list may not depend on the calls before it. */
  #tools: Tool[] | undefined;
  #probing: Promise<void> | undefined;

  constructor(source: SessionSource, { idleTimeout, assertRoom }: Hooks) {
    const { name, onError } = source;
    this.instructions = `The environment ${name}. The prompt "open" has the task and the handle of an episode. Use the tools to solve the task, with the handle as "${parameter}", and give the answer with ${answerName}.`;
    this.episodes = new OpenEpisodes({ idleTimeout, onError, end: ({ session }) => session.close() });
    this.#source = source;
    this.#assertRoom = assertRoom;
  }

  async listTools(): Promise<Tool[]> {
    if (!this.#tools) {
      this.#probing ??= this.#probe().finally(() => {
        this.#probing = undefined;
      });
      await this.#probing;
    }
    return this.#tools!;
  }

  async call(
    name: string,
    { [parameter]: handle, ...args }: Record<string, unknown>,
    request: AgentRequest,
  ): Promise<CallToolResult> {
    const episode = this.#find(handle);
    if (!episode) return mistake(unknown(handle));
    const { session } = episode;
    return this.#play(episode, () => session.call(name, args, request));
  }

  async prompt(name: string, args: Record<string, string>, signal: AbortSignal): Promise<GetPromptResult> {
    if (name === 'open') return this.#open(signal);
    if (name !== 'observation') {
      const message = `No prompt "${name}": ask for "open" or "observation".`;
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, message);
    }
    const handle = args[parameter];
    const episode = this.#find(handle);
    if (!episode) throw new ProtocolError(ProtocolErrorCode.InvalidParams, unknown(handle));
    const { session } = episode;
    return this.#play(episode, async () => toPrompt(await session.observe(signal)));
  }

  /** Any JSON may stand in place of a handle. */
  #find(handle: unknown): OpenEpisode | undefined {
    return typeof handle === 'string' ? this.episodes.find(handle) : undefined;
  }

  async #open(signal: AbortSignal): Promise<GetPromptResult> {
    this.#assertRoom();
    const session = this.#source.open();
    return this.#begin(session, async () => {
      const { messages } = toPrompt(await session.observe(signal));
      await this.#readTools(session, signal);
      const text = `The handle of your episode is "${session.id}". Give it as "${parameter}" with each call of a tool.`;
      messages.push({ role: 'user', content: { type: 'text', text } });
      return { _meta: { [handleKey]: session.id }, messages };
    });
  }

  /** Reads the tools in an episode of its own. Clients may list them before they open an episode. */
  async #probe(): Promise<void> {
    this.#assertRoom();
    const session = this.#source.probe();
    await this.#begin(session, () => this.#readTools(session, new AbortController().signal));
    await this.episodes.end({ session });
  }

  /** Ends the episode if it cannot begin. */
  async #begin<Result>(session: EnvSession, begin: () => Promise<Result>): Promise<Result> {
    this.episodes.add({ session });
    try {
      return await this.#play({ session }, begin);
    } catch (error) {
      await this.episodes.end({ session });
      throw error;
    }
  }

  /** Plays an episode, and ends it if it is over. */
  async #play<Result>(episode: OpenEpisode, play: () => Promise<Result>): Promise<Result> {
    const release = this.episodes.hold(episode);
    try {
      return await play();
    } finally {
      release();
      if (!episode.session.isRunning) await this.episodes.end(episode);
    }
  }

  async #readTools(session: EnvSession, signal: AbortSignal): Promise<void> {
    this.#tools ??= (await session.listTools(signal)).map((tool) => this.#named(tool));
  }

  /** The tool with a parameter for the handle. */
  #named(tool: Tool): Tool {
    const { properties = {}, required = [] } = tool.inputSchema;
    if (parameter in properties) {
      const message = `The tool "${tool.name}" of ${this.#source.name} has a parameter "${parameter}", but clients of MCP 2026-07-28 give their handle by this name: rename the parameter.`;
      throw new ToolEnvError('usage.mcp_tool_parameter', message);
    }
    const inputSchema = {
      ...tool.inputSchema,
      properties: { [parameter]: described, ...properties },
      required: [parameter, ...required],
    };
    return { ...tool, inputSchema };
  }
}

function unknown(handle: unknown): string {
  return typeof handle === 'string'
    ? `There is no episode "${handle.slice(0, 100)}", or it has ended.`
    : `${parameter}: expected the handle of an episode; the prompt "open" opens one.`;
}
