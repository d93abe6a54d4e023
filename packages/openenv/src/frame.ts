/** Frames of OpenEnv 0.10's WebSocket: what clients may send, and the errors that they get. */
import { bigintsAs, exactJson, isObject } from '@toolenv/core/schemas';

export type RequestType = 'reset' | 'step' | 'state' | 'mcp' | 'close';

export interface RequestFrame {
  type: RequestType;
  data: Record<string, unknown>;
}

/** What OpenEnv calls a step result. */
export interface StepResult {
  observation: Record<string, unknown>;
  /** The weighted sum of the step's rewards; `null` if none was scored. */
  reward: number | null;
  done: boolean;
  metadata: Record<string, unknown>;
}

/** The codes of OpenEnv (core/env_server/types.py). */
export type ErrorCode =
  | 'INVALID_JSON'
  | 'UNKNOWN_TYPE'
  | 'VALIDATION_ERROR'
  | 'EXECUTION_ERROR'
  | 'CAPACITY_REACHED'
  | 'SESSION_ERROR';

/** An error that the client gets as a frame. OpenEnv's client raises it, so it is never a mistake of the model. */
export class FrameError extends Error {
  readonly code: ErrorCode;
  readonly details: Readonly<Record<string, unknown>>;

  /** @param details Further fields of the frame. */
  constructor(code: ErrorCode, message: string, details: Record<string, unknown> = {}) {
    super(message);
    this.code = code;
    this.details = details;
  }

  get frame(): object {
    return { type: 'error', data: { message: this.message, code: this.code, ...this.details } };
  }
}

const types: readonly string[] = ['reset', 'step', 'state', 'mcp', 'close'] satisfies RequestType[];

/**
 * The value of a JSON text, with bigints in the arguments of calls where a number would round. Environments refuse them as mistakes.
 * @throws SyntaxError if the text is not JSON.
 */
export function exactArguments(text: string): unknown {
  return exactJson(text, (value) => bigintsAs('number', value, 'arguments'));
}

/** @throws FrameError if the text is not a frame. */
export function readFrame(text: string): RequestFrame {
  let frame: unknown;
  try {
    frame = exactArguments(text);
  } catch {
    throw new FrameError('INVALID_JSON', 'The frame is not JSON.');
  }
  if (!isObject(frame)) throw new FrameError('VALIDATION_ERROR', 'A frame must be an object with a "type".');
  const { type, data = {}, ...others } = frame;
  if (typeof type !== 'string' || !types.includes(type)) {
    throw new FrameError('UNKNOWN_TYPE', `Unknown type of frame: expected one of ${types.join(', ')}.`);
  }
  const [extra] = Object.keys(others);
  if (extra !== undefined) {
    throw new FrameError('VALIDATION_ERROR', `A frame has "type" and "data", not "${extra.slice(0, 100)}".`);
  }
  if (!isObject(data)) throw new FrameError('VALIDATION_ERROR', 'The "data" of a frame must be an object.');
  return { type: type as RequestType, data };
}
