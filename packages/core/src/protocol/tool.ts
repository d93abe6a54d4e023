/** Tool: "what happened". The shape of an MCP tool, so that MCP servers adapt without loss. A Tool never rewards. */
import type { JsonSchema, SchemaMistake } from '../schemas/json-schema.ts';
import type { ContentBlock } from './message.ts';
import type { Rng } from './rng.ts';

export interface ToolContext {
  /** Aborted when the call's deadline passes or the episode ends; honour it in anything that waits. */
  signal: AbortSignal;
  /** Seeded by episode and call, so that a random tool replays. */
  rng: Rng;
  episodeId: string;
  /** Number of this call in its episode, from 0. */
  callIndex: number;
}

export interface ToolResult<Data = unknown> {
  content: ContentBlock[];
  structuredContent?: Data;
  /** The tool ran and says that the call failed: the model's mistake, not the machine's. */
  isError?: boolean;
  /** The arguments were wrong in a way that the schema cannot say: told to the model as `invalid_arguments`. */
  mistake?: SchemaMistake;
}

/** Hints about behaviour, as MCP defines them. */
export interface ToolAnnotations {
  title?: string;
  readOnlyHint?: boolean;
  destructiveHint?: boolean;
  idempotentHint?: boolean;
  openWorldHint?: boolean;
}

export interface Tool<Args = Record<string, unknown>, Data = unknown> {
  readonly name: string;
  readonly description: string;
  /** An object schema, JSON Schema 2020-12. Arguments are validated against it before `execute`. */
  readonly inputSchema: JsonSchema;
  readonly outputSchema?: JsonSchema;
  readonly annotations?: ToolAnnotations;
  /** Throwing means that the tool's own machinery failed; say `isError` for a call that could not be served. */
  execute(args: Args, context: ToolContext): Promise<ToolResult<Data>>;
  /** Releases what the tool holds (an index, a server). Called once per run. */
  close?(): Promise<void>;
}

/** What is wrong with an answer that is no result. */
export const noContent = 'its result has no "content" array of blocks.';

/** A result of one text block. */
export function text(content: string): ToolResult<never> {
  return { content: [{ type: 'text', text: content }] };
}

/** A result that refuses the arguments and says where they are wrong, like a schema does. */
export function refuse(mistake: SchemaMistake): ToolResult<never> {
  const told = `${mistake.path || 'arguments'}: expected ${mistake.expected}; received ${mistake.received}.`;
  return { content: [{ type: 'text', text: told }], isError: true, mistake };
}
