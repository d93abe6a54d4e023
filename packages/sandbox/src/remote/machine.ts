/** Machine: a computer of a service, reached through the client of its vendor. */
import { type JsonSchema, messageOf } from '@toolenv/core';
import type { OptionsOf } from '@toolenv/core/schemas';
import { redactSecrets } from '@toolenv/core/secrets';
import { Deadline } from '@toolenv/core/tools';
import { limitProperties } from '../limits.ts';

/** What a script has written to stdout, and its exit code. */
export interface ScriptResult {
  output: string;
  exitCode: number;
}

/** Each method rejects if the machine or its service fails. The result of a script that fails is no such fault. */
export interface Machine {
  readonly id: string;
  /**
   * Runs a script with a shell of the machine.
   * @param options `most` bounds the characters of the output: it rejects above.
   */
  exec(script: string, options: CallOptions & { most: number }): Promise<ScriptResult>;
  /** Writes a file, of which the folder is there. */
  upload(path: string, bytes: Uint8Array, options: CallOptions): Promise<void>;
  /** Puts off the end of the machine by its time to live, from now on. */
  renew(): Promise<void>;
  /** Ends the machine. It may have ended already. */
  remove(): Promise<void>;
}

/** A machine that a service lists. */
export interface ListedMachine {
  id: string;
  labels: Readonly<Record<string, string>>;
  remove(): Promise<void>;
}

/** What makes machines. */
export interface MachineService {
  /** Makes a machine that ends by itself after its time to live, unless it is renewed. */
  create(labels: Readonly<Record<string, string>>): Promise<Machine>;
  /** The machines that have these labels, among others. */
  list(labels: Readonly<Record<string, string>>): Promise<ListedMachine[]>;
  /** Ends what the client keeps open. */
  close(): Promise<void>;
}

export const remoteProperties = {
  timeout: limitProperties.timeout,
  output: limitProperties.output,
  ttl: {
    type: 'integer',
    minimum: 60,
    default: 900,
    description:
      'seconds after which a machine ends by itself when this process was killed; until then, the process renews it',
  },
  network: { type: 'boolean', default: false, description: 'whether the machines reach the internet' },
  user: { type: 'string', default: '', description: "user of the commands; default: the image's" },
  spare: { type: 'integer', minimum: 0, default: 0, description: 'machines that are kept ready' },
} as const satisfies Record<string, JsonSchema>;

export type RemoteOptions = OptionsOf<{ properties: typeof remoteProperties }>;

/** What bounds a call. */
export interface CallOptions {
  /** Milliseconds. */
  within: number;
  /** Ends the call. */
  signal: AbortSignal;
}

/**
 * @param call Receives a signal that also aborts when the time is over.
 * @throws What the call throws, the reason of the signal, or an error that says that the time is over; the call's result is dropped then.
 */
export async function withTimeout<Result>(
  call: (options: CallOptions) => Promise<Result>,
  { within, signal: parent }: { within: number; signal?: AbortSignal | undefined },
): Promise<Result> {
  const reason = () => new Error(`it did not answer within ${within} ms`);
  const deadline = new Deadline({ after: within, ...(parent && { parent }), reason });
  try {
    return await deadline.race((signal) => call({ within, signal }));
  } finally {
    deadline.clear();
  }
}

/** Characters. Services answer with pages. */
const longest = 500;

/** What a vendor's client says of a failure, fit for a message. The error itself is not passed on: it may hold headers with a key. */
export function whyFailed(error: unknown): string {
  // Of a request that `fetch` could not send, only the cause says why.
  const { cause } = Object(error) as { cause?: unknown };
  const why = cause instanceof Error ? `${messageOf(error)} (${messageOf(cause)})` : messageOf(error);
  return redactSecrets(why).trim().replace(/\.$/, '').slice(0, longest);
}
