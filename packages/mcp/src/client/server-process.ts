/** ServerProcess: an MCP server as a child process. It and its own child processes end with the connection. */
import { type ChildProcess, spawn } from 'node:child_process';
import {
  type JSONRPCMessage,
  parseJSONRPCMessage,
  serializeMessage,
  type Transport,
} from '@modelcontextprotocol/client';
import { getDefaultEnvironment } from '@modelcontextprotocol/client/stdio';
import { asClause, messageOf, ToolEnvError } from '@toolenv/core';
import { withinDeadline } from '@toolenv/core/tools';
import { MessageLines } from '../exact-message.ts';
import { ServerGone } from './client-error.ts';
import { Greeting, lastError } from './greeting.ts';
import { describeServer, type ExpandedServer, hideSecrets, type McpCommand } from './mcp-server.ts';

/** Characters of stderr that are kept to explain why a server failed: enough for a long stack, and what is logged after it. */
const stderrTail = 1 << 16;
/** Milliseconds to wait for output after the process has ended, in case another process holds its pipe. */
const drainTime = 500;

/**
 * The stdio transport (MCP 2025-11-25, basic/transports#stdio). Unlike the SDK's transport, it runs the server in a process
 * group, so that processes started by a launcher such as npx end too, and it knows why a server ended.
 */
export class ServerProcess implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;

  readonly #command: ExpandedServer<McpCommand>;
  readonly #grace: number;
  readonly #lines = new MessageLines(parseJSONRPCMessage, (error) => this.onerror?.(error));
  readonly #greeting: Greeting;
  #child: ChildProcess | undefined;
  #ended: Promise<void> = Promise.resolve();
  #delivering = false;
  /** The end of the process's stderr. The SDK knows a transport over stdio by its `pid` and `stderr`. */
  stderr = '';
  /** Why the connection ended: the first reason, so not the exit that closing causes. */
  #end: string | undefined;
  /** Whether the process was closed while it ran. What it writes to stderr from then on explains nothing. */
  #closing = false;

  /**
   * @param grace Milliseconds that the server has to exit after its input ends, and again after SIGTERM.
   * @param patience Milliseconds until a server that is silent at the question for its protocol gets `initialize` too.
   */
  constructor(command: ExpandedServer<McpCommand>, grace: number, patience: number) {
    this.#command = command;
    this.#grace = grace;
    this.#greeting = new Greeting(
      patience,
      // A server that has ended says so by itself.
      (message) => this.#write(message).catch(() => {}),
      (message) => this.onmessage?.(message),
    );
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** How the process ended by itself, and the error in its stderr; `undefined` while it runs, and if it was closed. */
  get end(): string | undefined {
    return this.#end === undefined ? undefined : this.withStderr(this.#end);
  }

  /** The failure, and the last error in the process's stderr. */
  withStderr(failure: string): string {
    const said = hideSecrets(lastError(this.stderr), this.#command);
    return said === '' ? failure : `${failure}; its stderr says: ${said}`;
  }

  /** @throws ToolEnvError `usage.mcp_command` if the command cannot be run. */
  async start(): Promise<void> {
    const { command, args = [], env, cwd } = this.#command.server;
    const child = spawn(command, args, {
      env: { ...getDefaultEnvironment(), ...env },
      cwd,
      stdio: ['pipe', 'pipe', 'pipe'],
      // In its own group, so that Ctrl-C reaches only this process, which then ends its servers.
      detached: process.platform !== 'win32',
      windowsHide: true,
    });
    this.#child = child;
    if (child.pid !== undefined) running.add(child.pid);
    child.stdin.on('error', (error) => this.onerror?.(error));
    child.stdout.on('error', (error) => this.onerror?.(error));
    child.stdout.on('data', (chunk: Buffer) => this.#read(chunk));
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
      if (!this.#closing) this.stderr = (this.stderr + chunk).slice(-stderrTail);
    });
    await new Promise<void>((resolve, reject) => {
      child.once('spawn', resolve);
      child.once('error', (error) => reject(cannotRun(this.#command.given, error)));
    });
    child.on('error', (error) => this.onerror?.(error));
    this.#ended = this.#watch(child);
  }

  /** Rejects with ServerGone if the server does not read its input. This may be noticed before the end of the process. */
  async send(message: JSONRPCMessage): Promise<void> {
    if (this.#greeting.sends(message)) await this.#write(message);
  }

  #write(message: JSONRPCMessage): Promise<void> {
    const { stdin } = this.#child ?? {};
    return new Promise((resolve, reject) => {
      if (!stdin || this.#end !== undefined) throw new ServerGone('it has ended');
      stdin.write(serializeMessage(message), async (error) => {
        if (!error) return resolve();
        // How it ended says more than the broken pipe.
        await settlesWithin(this.#ended, drainTime);
        reject(new ServerGone(messageOf(error), { cause: error }));
      });
    });
  }

  /** Ends the server without waiting: for a server that has not started, and so has nothing to finish. */
  async kill(): Promise<void> {
    this.#closing ||= this.#end === undefined;
    if (this.#child?.pid !== undefined) signalGroup(this.#child.pid, 'SIGTERM');
    await this.close();
  }

  /** Ends the server: closes its input, then sends SIGTERM, then SIGKILL (MCP 2025-11-25, basic/lifecycle#shutdown). */
  async close(): Promise<void> {
    const child = this.#child;
    this.#greeting.end();
    if (!child) return;
    this.#closing ||= this.#end === undefined;
    child.stdin?.end();
    for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
      if (await settlesWithin(this.#ended, this.#grace)) return;
      signalGroup(child.pid!, signal);
    }
    await this.#ended;
  }

  /** Settles when the process has ended, its group is killed and its output is read. */
  async #watch(child: ChildProcess): Promise<void> {
    const closed = new Promise<void>((resolve) => child.once('close', () => resolve()));
    await new Promise<void>((resolve) => {
      child.once('exit', (code, signal) => {
        if (!this.#closing) this.#end = signal ? `it was ended by ${signal}` : `it exited with code ${code}`;
        signalGroup(child.pid!, 'SIGKILL');
        running.delete(child.pid!);
        resolve();
      });
    });
    await settlesWithin(closed, drainTime);
    this.#lines.clear();
    this.#greeting.end();
    this.onclose?.();
  }

  async #read(chunk: Buffer): Promise<void> {
    try {
      this.#lines.append(chunk);
    } catch (error) {
      // The start of the next message is unknown.
      this.#end ??= `it sent a message that is too long (${messageOf(error)})`;
      this.#closing = true;
      this.onerror?.(error as Error);
      this.close().catch(() => {});
      return;
    }
    if (this.#delivering) return;
    this.#delivering = true;
    for (let message = this.#lines.next(); message; message = this.#lines.next()) {
      if (this.#greeting.receives(message)) this.onmessage?.(message);
      // Yield, because the SDK handles a notification one microtask later, and must do so before the next response.
      await undefined;
    }
    this.#delivering = false;
  }
}

/** Process groups to kill if this process exits without closing them. */
const running = new Set<number>();
process.on('exit', () => {
  for (const pid of running) signalGroup(pid, 'SIGKILL');
});

function signalGroup(pid: number, signal: 'SIGTERM' | 'SIGKILL'): void {
  if (process.platform === 'win32') {
    spawn('taskkill', ['/pid', String(pid), '/t', ...(signal === 'SIGKILL' ? ['/f'] : [])]);
    return;
  }
  try {
    process.kill(-pid, signal);
  } catch {
    // All processes of the group have ended.
  }
}

function settlesWithin(promise: Promise<void>, milliseconds: number): Promise<boolean> {
  const settled = () => promise.then(() => true);
  return withinDeadline({ after: milliseconds, reason: () => undefined }, settled).catch(() => false);
}

function cannotRun(command: McpCommand, error: Error): ToolEnvError {
  const remedy = 'check the command, its installation and its working folder';
  const message = `${describeServer(command)} cannot be run: ${asClause(messageOf(error))}: ${remedy}.`;
  return new ToolEnvError('usage.mcp_command', message, { cause: error });
}
