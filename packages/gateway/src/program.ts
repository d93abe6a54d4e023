/** Programs that agents are: each runs in a process group of its own, and inherits no secret. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { messageOf, ToolEnvError } from '@toolenv/core';
import type { AgentContext } from './agent-episode.ts';

/** What a program came to. */
export interface CommandResult {
  /** At most its last 1,048,576 characters, as of `stderr`. */
  stdout: string;
  stderr: string;
}

/** A program that ended with another exit code than 0. */
export class CommandFailed extends Error {
  override readonly name = 'CommandFailed';
  readonly code: number;
  readonly result: CommandResult;

  constructor(file: string, code: number, result: CommandResult) {
    const said = result.stderr.trim().slice(-500);
    super(`${file} ended with exit code ${code}${said && `: ${said}`}`);
    this.code = code;
    this.result = result;
  }
}

const maxOutputLength = 2 ** 20;

/** Milliseconds from SIGTERM to SIGKILL. */
const grace = 5000;

/** A program that runs. */
export class RunningProgram {
  readonly child: ChildProcess;
  readonly #file: string;
  readonly #result: CommandResult = { stdout: '', stderr: '' };
  #killer: NodeJS.Timeout | undefined;

  /** @param file What errors call the program. */
  constructor(child: ChildProcess, file: string) {
    this.child = child;
    this.#file = file;
    // A program need not read its input.
    child.stdin!.on('error', () => {});
  }

  /** Keeps the end of what the program writes. */
  keep(name: keyof CommandResult): void {
    this.child[name]!.setEncoding('utf8').on('data', (text: string) => {
      this.#result[name] = (this.#result[name] + text).slice(-maxOutputLength);
    });
  }

  /** Ends the program's group: with SIGTERM, and with SIGKILL after 5 seconds. */
  end(): void {
    this.#kill('SIGTERM');
    this.#killer ??= setTimeout(() => this.#kill('SIGKILL'), grace);
  }

  /** @throws CommandFailed for an exit code other than 0, and ToolEnvError `infrastructure.agent_command` if it could not start or a signal has ended it. */
  async finished(): Promise<CommandResult> {
    const { child } = this;
    try {
      const [code, by] = (await once(child, 'exit')) as [number | null, string | null];
      // Whatever it has left behind in its group holds its streams open.
      this.#kill('SIGKILL');
      await Promise.all([closed(child.stdout!), closed(child.stderr!)]);
      if (code === null)
        throw new ToolEnvError('infrastructure.agent_command', `${this.#file} was ended by ${by}.`);
      if (code !== 0) throw new CommandFailed(this.#file, code, this.#result);
      return this.#result;
    } catch (error) {
      if (child.pid !== undefined) throw error;
      const message = `${this.#file} cannot be started: ${messageOf(error)}: check its name, and that it may be run.`;
      throw new ToolEnvError('infrastructure.agent_command', message, { cause: error });
    } finally {
      clearTimeout(this.#killer);
    }
  }

  #kill(signal: NodeJS.Signals): void {
    const { pid } = this.child;
    if (pid === undefined) return;
    try {
      process.kill(process.platform === 'win32' ? pid : -pid, signal);
    } catch {
      // It has ended.
    }
  }
}

async function closed(stream: NodeJS.ReadableStream & { closed?: boolean }): Promise<void> {
  if (!stream.closed) await once(stream, 'close');
}

/** Starts a program, with streams, in a group of its own. */
export function start(
  file: string,
  args: readonly string[],
  place: { cwd?: string; env: NodeJS.ProcessEnv; shell?: boolean },
): ChildProcess {
  return spawn(file, args, { ...place, detached: process.platform !== 'win32', stdio: 'pipe' });
}

/** The variables of an agent's program: those that every program needs, and the model's. */
export function agentVariables({ baseURL, apiKey }: Pick<AgentContext, 'baseURL' | 'apiKey'>) {
  return {
    ...inherited(),
    OPENAI_BASE_URL: baseURL,
    OPENAI_API_BASE: baseURL,
    OPENAI_API_KEY: apiKey,
    // Its clients add /v1 themselves.
    ANTHROPIC_BASE_URL: baseURL.replace(/\/v1$/, ''),
    ANTHROPIC_API_KEY: apiKey,
  };
}

/** Variables that programs need, as the MCP SDK hands them on to servers. */
const needed =
  /^(APPDATA|HOME|HOMEDRIVE|HOMEPATH|LANG|LC_\w+|LOCALAPPDATA|LOGNAME|PATH|PATHEXT|PROCESSOR_ARCHITECTURE|PROGRAMFILES|SHELL|SYSTEMDRIVE|SYSTEMROOT|TEMP|TERM|TMP|TMPDIR|TZ|USER|USERNAME|USERPROFILE)$/i;

function inherited(): Record<string, string> {
  return Object.fromEntries(
    Object.entries(process.env).filter(
      (entry): entry is [string, string] => needed.test(entry[0]) && entry[1] !== undefined,
    ),
  );
}
