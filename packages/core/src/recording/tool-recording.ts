/**
 * A recording, version 1: JSONL, the tools and the policy in the first line, then a line for each call of a tool and each turn of the policy
 * as it ended.
 */
import { type ErrorCode, messageOf, ToolEnvError } from '../protocol/errors.ts';
import type { PolicySpec } from '../protocol/policy.ts';
import type { Tool, ToolContext, ToolResult } from '../protocol/tool.ts';
import type { PolicyIdentity } from './run-tap.ts';

/** A tool without its machinery. */
export type ToolFace = Omit<Tool, 'execute' | 'close'>;

export interface RecordingHeader {
  recording: 'tools';
  version: 1;
  /** `role`: the role of the environment that the tool fills, if it fills one. */
  tools: (ToolFace & { role?: string })[];
  /** How to use the tools that the environment opened itself. */
  instructions?: string;
  /** The policy whose turns are recorded; absent if it computes on this machine. */
  policy?: PolicyIdentity & { spec: PolicySpec };
}

/** One call and how it ended: a result, an error that the tool threw, or nothing because the caller gave up. */
export interface RecordedCall extends CallKey {
  tool: string;
  /** Keys sorted. */
  arguments: unknown;
  result?: ToolResult;
  error?: { code?: ErrorCode; message: string };
  abandoned?: true;
}

/** Identifies a call among concurrent calls. */
export interface CallKey {
  episode: string;
  /** Episodes with the same id, as in two evaluations one after the other, are takes 0, 1, … */
  take: number;
  /** {@link ToolContext.callIndex}. */
  call: number;
}

/** Counts the takes: calls of an episode come in the order of their index, so that a lower index begins another take. */
export class Takes {
  readonly #last = new Map<string, { take: number; call: number }>();

  /** The key of a call; to be called at the very start of the call. */
  next({ episodeId, callIndex }: ToolContext): CallKey {
    const last = this.#last.get(episodeId);
    const take = last === undefined ? 0 : last.take + (callIndex <= last.call ? 1 : 0);
    this.#last.set(episodeId, { take, call: callIndex });
    return { episode: episodeId, take, call: callIndex };
  }
}

/** Copies by name, because a tool may be an object of a class. */
export function faceOf({
  name,
  description,
  inputSchema,
  outputSchema,
  annotations,
  timeout,
}: ToolFace): ToolFace {
  return { name, description, inputSchema, outputSchema, annotations, timeout };
}

/** How a call or a turn ended that threw. @param abandoned Whether its caller had given up. */
export function recordedError(thrown: unknown, abandoned = false): Pick<RecordedCall, 'error' | 'abandoned'> {
  // A time limit of the environment replays as an error. Any other reason to give up is the caller's own.
  if (ToolEnvError.isInstance(thrown)) return { error: { code: thrown.code, message: thrown.message } };
  return abandoned ? { abandoned: true } : { error: { message: messageOf(thrown) } };
}

/** Throws what was recorded. */
export function rethrow({ code, message }: NonNullable<RecordedCall['error']>): never {
  throw code ? new ToolEnvError(code, message) : new Error(message);
}

export function divergence(where: string, what: string): ToolEnvError {
  const message = `The replay differs from the recording: ${where}: ${what}`;
  return new ToolEnvError('bug.replay_divergence', message);
}

/** `value` as JSON holds it, with keys sorted by UTF-16 units at every depth like in RFC 8785: one text for each JSON value. */
export function canonical(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value ?? null), (_, part: unknown) => {
    if (typeof part !== 'object' || part === null || Array.isArray(part)) return part;
    return Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
}
