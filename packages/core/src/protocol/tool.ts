/** Tool: reports what happened and never rewards. It has the shape of an MCP tool, so that MCP servers adapt without loss. */
import type { JsonSchema, SchemaMistake } from './json-schema.ts';
import type { ContentBlock } from './message.ts';
import type { Rng } from './rng.ts';

/** What a tool receives with the arguments of a call. */
export interface ToolContext {
  /** Aborted when the call's deadline passes or the episode ends. Pass it to everything that waits. */
  signal: AbortSignal;
  /** Seeded by episode and call, so that a random tool can be replayed. */
  rng: Rng;
  /** No other episode that runs in this process has it. */
  episodeId: string;
  /** Index of this call in its episode, from 0. */
  callIndex: number;
  /** Says how far the call is. Callers see at most 20 reports a second, and 1,000 characters of a message. Absent if nobody listens. */
  progress?(report: ToolProgress): void;
}

/** How far a call is, as MCP reports it (MCP 2025-11-25, basic/utilities/progress). */
export interface ToolProgress {
  /** Increases with each report. */
  progress: number;
  total?: number;
  message?: string;
}

/** A report of a running call, as callers receive it. */
export interface CallProgress extends ToolProgress {
  /** Name of the tool. */
  tool: string;
  episodeId: string;
  /** Index of the call in its episode, from 0. */
  callIndex: number;
}

/** What a tool has asked of a model. */
export interface ModelUsage {
  requests: number;
  inputTokens: number;
  outputTokens: number;
}

/** The result of a call, in the shape of an MCP result. */
export interface ToolResult<Data = unknown> {
  content: ContentBlock[];
  structuredContent?: Data;
  /** The tool ran and reports that the call failed. This is the model's mistake, not a fault of the infrastructure. */
  isError?: boolean;
  /** The arguments are wrong in a way that the schema cannot express. The model receives `invalid_arguments`. */
  mistake?: SchemaMistake;
  /** What the call has cost, if the tool asks a model. */
  usage?: ModelUsage;
  /** What the tool said before `screenTool` put this result in its place. For records: models do not see it. */
  screened?: string;
}

/** Hints about the tool's behaviour, as MCP defines them. */
export interface ToolAnnotations {
  title?: string;
  readOnlyHint?: boolean;
  destructiveHint?: boolean;
  idempotentHint?: boolean;
  openWorldHint?: boolean;
}

/** A function that a model may call, in the shape of an MCP tool. It reports what happened and never rewards. */
export interface Tool<Args = Record<string, unknown>, Data = unknown> {
  readonly name: string;
  readonly description: string;
  /** A JSON Schema (2020-12) of an object. Arguments are validated against it before `execute`. */
  readonly inputSchema: JsonSchema;
  readonly outputSchema?: JsonSchema;
  readonly annotations?: ToolAnnotations;
  /** Milliseconds that a call may take. Default, and most: `toolTimeout` of the environment. For its own calls, an environment waits longer. */
  readonly timeout?: number;
  /** Throws if the tool's own machinery failed. Returns `isError` for a call that cannot be served. */
  execute(args: Args, context: ToolContext): Promise<ToolResult<Data>>;
  /** Releases what the tool keeps for an episode: its interpreter, its shell. Called when an episode that called the tool is over. */
  release?(episodeId: string): Promise<void>;
  /** Releases the tool's resources (an index, a server). Called once per run. */
  close?(): Promise<void>;
}

/** A result with one text block. */
export function text(content: string): ToolResult<never> {
  return { content: [{ type: 'text', text: content }] };
}

/** A result that says why a call cannot be served: `failure('There is no account 7.')`. */
export function failure(why: string): ToolResult<never> {
  return { ...text(why), isError: true };
}

/** A result that refuses the arguments and names the wrong part, as a schema's mistake does. */
export function refuse(mistake: SchemaMistake): ToolResult<never> {
  const message = `${mistake.path || 'arguments'}: expected ${mistake.expected}; received ${mistake.received}.`;
  return { ...failure(message), mistake };
}
