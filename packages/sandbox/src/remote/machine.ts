/** Machine: a computer of a service, reached through the client of its vendor. */
import type { CallOptions } from './in-time.ts';

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
