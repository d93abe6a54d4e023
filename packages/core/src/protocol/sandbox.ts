/** Sandbox: where the commands of an episode run and its files are. */

/** How a command runs. */
export interface CommandOptions {
  /** Text that the command reads. Default: none. */
  stdin?: string;
  /** Variables for this command, in addition to those of earlier commands. */
  env?: Readonly<Record<string, string>>;
  /** Milliseconds after which the command is killed. Default: that of the provider. */
  timeout?: number;
  /** Default: those of the provider. */
  limits?: {
    /** Bytes that are kept of stdout, and of stderr. */
    output?: number;
  };
  /** Kills the command when it aborts. */
  signal?: AbortSignal;
}

/**
 * How a command ended. A command that fails, runs too long or needs too much memory has a result too: it is the work of whoever wrote
 * the command.
 */
export interface CommandResult {
  stdout: string;
  stderr: string;
  /** As a shell reports it: 124 for a command that ran too long, 137 for a killed one. */
  exitCode: number;
  /** Whether output is missing in `stdout` or `stderr`, because there was more than is kept. */
  truncated: boolean;
  timedOut: boolean;
  /** Whether the command was killed because it needed too much memory, as far as the provider can tell. */
  outOfMemory: boolean;
  /** What the command destroyed: the variables and the working folder of the shell, or these and the files. Absent: nothing. */
  lost?: 'shell' | 'files';
}

/** An entry of a folder. */
export interface SandboxEntry {
  name: string;
  type: 'file' | 'folder' | 'link' | 'other';
  /** Bytes of a file, else 0. */
  size: number;
}

/**
 * A shell and its files. The files, the working folder and the exported variables of a command are there for the next command. Commands
 * run one after another. Paths may be relative to the folder in which the first command runs.
 *
 * Each method throws an `infrastructure.*` error if the sandbox itself fails: it crashed, vanished or does not answer. After `close`, and
 * after such an error, each method but `close` throws.
 */
export interface Sandbox {
  /** @throws The reason of `options.signal` when it aborts. */
  run(command: string, options?: CommandOptions): Promise<CommandResult>;
  /**
   * The bytes of a file.
   * @throws ToolEnvError `usage.sandbox_file` for a path that is not a readable file, and for a file above the provider's limit.
   */
  read(path: string): Promise<Uint8Array>;
  /**
   * Writes a whole file. Makes the folders that lack.
   * @throws ToolEnvError `usage.sandbox_file` if the path cannot be written, or the disk is full.
   */
  write(path: string, content: string | Uint8Array): Promise<void>;
  /**
   * The entries of a folder, by name; at most 10,000.
   * @throws ToolEnvError `usage.sandbox_file` if there is no such folder.
   */
  list(path: string): Promise<SandboxEntry[]>;
  /** Ends everything that runs in the sandbox, and removes its files. May be called again. */
  close(): Promise<void>;
}
