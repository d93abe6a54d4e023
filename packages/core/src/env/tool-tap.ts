/** ToolTap: stands between an environment and its tools as the environment opens, to record calls or to answer them. */
import { ToolEnvError } from '../protocol/errors.ts';
import type { Tool } from '../protocol/tool.ts';

/** What one episode holds of a {@link ToolSource}. */
export interface ToolLease {
  readonly tools: readonly Tool[];
  /** How to use the tools, for the system message. */
  readonly instructions?: string;
  /** Settles when the tools need not wait for a server to start. Absent: they never need to. */
  ready?(signal?: AbortSignal): Promise<void>;
  /** The folder that the tools work in, if an earlier episode had it. */
  readonly folder?: string | undefined;
  release(): Promise<void>;
}

/** Gives every episode its tools, as a pool of servers does. */
export interface ToolSource<Request = { signal?: AbortSignal }> {
  /** Without a request, the tools are only listed, and not called. */
  acquire(request?: Request): Promise<ToolLease>;
  close(): Promise<void>;
}

/** Stands between an environment and its tools, to record or to replay them. */
export interface ToolTap {
  /** The tool of a role. A replay does not call `make`. */
  tool(role: string, make: () => Promise<Tool>): Promise<Tool>;
  /** Tools that the environment opens itself. A replay does not call `open`. */
  source<Request>(open: () => Promise<ToolSource<Request>>): Promise<ToolSource<Request>>;
  /**
   * To be called once the environment is open.
   * @throws ToolEnvError `usage.not_recordable` if the environment asked this tap for no tool.
   */
  opened(env: string): void;
  /**
   * To be called when the run has ended well. Ends the recording's file.
   * @throws ToolEnvError `bug.replay_divergence` if a recorded call was not made.
   */
  finish(): Promise<void>;
}

export function notRecordable(env: string): ToolEnvError {
  const remedy =
    'let the environment name its tools as roles, or record in a program with recordTools of @toolenv/core/recording';
  const message = `${env} makes its tools itself, so that their calls cannot be recorded or replayed: ${remedy}.`;
  return new ToolEnvError('usage.not_recordable', message);
}
