/** A recording of tool traffic, version 1: JSONL, the tools in its first line, then one call a line as they ended. */
import type { ErrorCode } from '../protocol/errors.ts';
import type { Tool, ToolContext, ToolResult } from '../protocol/tool.ts';
import type { JsonSchema } from '../schemas/json-schema.ts';

/** A tool without its machinery. */
export type ToolFace = Omit<Tool, 'execute' | 'close'>;

export interface RecordingHeader {
  recording: 'tools';
  version: 1;
  tools: ToolFace[];
}

/** One call and what came of it: a result, an error that the tool threw, or nothing, as its caller gave it up. */
export interface RecordedCall extends CallKey {
  tool: string;
  /** Keys sorted. */
  arguments: unknown;
  result?: ToolResult;
  error?: { code?: ErrorCode; message: string };
  abandoned?: true;
}

/** Where a call belongs, whatever runs beside it. */
export interface CallKey {
  episode: string;
  /** Episodes of one id that were played one after another, as by two evaluations, are takes 0, 1, … */
  take: number;
  /** {@link ToolContext.callIndex}. */
  call: number;
}

/** Counts the takes: calls of an episode come in the order of their index, so that a step back begins another take. */
export class Takes {
  readonly #last = new Map<string, { take: number; call: number }>();

  /** The key of a call. To be asked at the very start of each call. */
  next({ episodeId, callIndex }: ToolContext): CallKey {
    const last = this.#last.get(episodeId);
    const take = last === undefined ? 0 : last.take + (callIndex <= last.call ? 1 : 0);
    this.#last.set(episodeId, { take, call: callIndex });
    return { episode: episodeId, take, call: callIndex };
  }
}

/** Names only, so that tools that are objects of a class have theirs too. */
export function faceOf({ name, description, inputSchema, outputSchema, annotations }: Tool): ToolFace {
  return { name, description, inputSchema, outputSchema, annotations };
}

export const headerSchema: JsonSchema = {
  type: 'object',
  required: ['recording', 'version', 'tools'],
  properties: {
    recording: { const: 'tools' },
    version: { const: 1 },
    tools: {
      type: 'array',
      items: {
        type: 'object',
        required: ['name', 'description', 'inputSchema'],
        properties: { name: { type: 'string' }, inputSchema: { type: 'object' } },
      },
    },
  },
};

export const callSchema: JsonSchema = {
  type: 'object',
  required: ['episode', 'take', 'call', 'tool', 'arguments'],
  properties: {
    episode: { type: 'string' },
    take: { type: 'integer' },
    call: { type: 'integer' },
    tool: { type: 'string' },
    result: { type: 'object', required: ['content'], properties: { content: { type: 'array' } } },
    error: { type: 'object', required: ['message'] },
    abandoned: { const: true },
  },
  oneOf: [{ required: ['result'] }, { required: ['error'] }, { required: ['abandoned'] }],
};
