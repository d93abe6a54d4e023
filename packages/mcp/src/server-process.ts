/** ServerProcess: an MCP server as a child process; it and all that it started end with the connection. */
import { type ChildProcess, spawn } from 'node:child_process';
import { getDefaultEnvironment } from '@modelcontextprotocol/sdk/client/stdio.js';
import { ReadBuffer, serializeMessage } from '@modelcontextprotocol/sdk/shared/stdio.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { messageOf, ToolEnvError } from '@toolenv/core';
import { describeServer, type McpCommand } from './mcp-server.ts';

/** Characters of stderr kept, to tell why a server ended. */
const stderrTail = 600;
/** Characters from which on the value of a variable is taken for a secret: less is a word that any text may have. */
const secretLength = 6;
/** Milliseconds that output may still arrive after the process has ended, if something else holds its pipe. */
const drainTime = 500;

/** A message could not be given to the server. */
export class ServerGone extends Error {}

/**
 * The stdio transport (MCP 2025-11-25, basic/transports#stdio). Unlike the SDK's own, it runs the server in a process
 * group, so that what a launcher such as npx started ends too, and it knows why a server ended.
 */
export class ServerProcess implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;

  readonly #command: McpCommand;
  readonly #grace: number;
  readonly #buffer = new ReadBuffer();
  #child: ChildProcess | undefined;
  #ended: Promise<void> = Promise.resolve();
  #delivering = false;
  #stderr = '';
  #end: string | undefined;

  /** @param grace Milliseconds that the server has to end after its input ended, and again after SIGTERM. */
  constructor(command: McpCommand, grace: number) {
    this.#command = command;
    this.#grace = grace;
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** How the process ended and the last that it wrote to stderr; `undefined` while it runs. */
  get end(): string | undefined {
    if (this.#end === undefined) return undefined;
    const said = this.#withoutSecrets(this.#stderr.trim());
    return said === '' ? this.#end : `${this.#end}; its stderr ends: ${said}`;
  }

  /** @throws ToolEnvError `usage.mcp_command` if there is no such command to run. */
  async start(): Promise<void> {
    const { command, args = [], env, cwd } = this.#command;
    const child = spawn(command, args, {
      env: { ...getDefaultEnvironment(), ...env },
      cwd,
      stdio: ['pipe', 'pipe', 'pipe'],
      // A group of its own: Ctrl-C is for this process, which then ends its servers.
      detached: process.platform !== 'win32',
      windowsHide: true,
    });
    this.#child = child;
    child.stdin.on('error', (error) => this.onerror?.(error));
    child.stdout.on('error', (error) => this.onerror?.(error));
    child.stdout.on('data', (chunk: Buffer) => this.#read(chunk));
    child.stderr.on('data', (chunk: Buffer) => {
      this.#stderr = (this.#stderr + chunk).slice(-stderrTail);
    });
    await new Promise<void>((resolve, reject) => {
      child.once('spawn', resolve);
      child.once('error', (error) => reject(cannotRun(this.#command, error)));
    });
    child.on('error', (error) => this.onerror?.(error));
    running.add(child.pid!);
    this.#ended = this.#watch(child);
  }

  /** @throws ServerGone (rejects) if nobody reads its input any more, which may show before the process is known to have ended. */
  send(message: JSONRPCMessage): Promise<void> {
    const { stdin } = this.#child ?? {};
    return new Promise((resolve, reject) => {
      if (!stdin || this.#end !== undefined) throw new ServerGone('it has ended');
      stdin.write(serializeMessage(message), (error) =>
        error ? reject(new ServerGone(messageOf(error), { cause: error })) : resolve(),
      );
    });
  }

  /** Ends the server: its input, then SIGTERM, then SIGKILL (MCP 2025-11-25, basic/lifecycle#shutdown). */
  async close(): Promise<void> {
    const child = this.#child;
    if (!child) return;
    child.stdin?.end();
    for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
      if (await settlesWithin(this.#ended, this.#grace)) return;
      signalGroup(child.pid!, signal);
    }
    await this.#ended;
  }

  /** Settles when the process and its group have ended and its output is read. */
  async #watch(child: ChildProcess): Promise<void> {
    const closed = new Promise<void>((resolve) => child.once('close', () => resolve()));
    await new Promise<void>((resolve) => {
      child.once('exit', (code, signal) => {
        this.#end = signal ? `it was ended by ${signal}` : `it exited with code ${code}`;
        signalGroup(child.pid!, 'SIGKILL');
        running.delete(child.pid!);
        resolve();
      });
    });
    await settlesWithin(closed, drainTime);
    this.#buffer.clear();
    this.onclose?.();
  }

  /** The values of the variables that were given, which may be keys, by name: errors end up in recorded files. */
  #withoutSecrets(text: string): string {
    const given = Object.entries(this.#command.env ?? {}).filter(([, value]) => value.length >= secretLength);
    return given.reduce((said, [name, value]) => said.replaceAll(value, `[${name}]`), text);
  }

  async #read(chunk: Buffer): Promise<void> {
    try {
      this.#buffer.append(chunk);
    } catch (error) {
      // A message beyond the SDK's bound: what follows it could not be told apart.
      this.onerror?.(error as Error);
      this.close().catch(() => {});
      return;
    }
    if (this.#delivering) return;
    this.#delivering = true;
    for (let message = this.#next(); message !== null; message = this.#next()) {
      if (message !== undefined) this.onmessage?.(message);
      // The SDK handles a notification one turn later, which must be before it handles the response that follows.
      await undefined;
    }
    this.#delivering = false;
  }

  /** The next whole message; `undefined` for a line that is none, as some servers print to stdout; `null` at the end. */
  #next(): JSONRPCMessage | null | undefined {
    try {
      return this.#buffer.readMessage();
    } catch (error) {
      this.onerror?.(error as Error);
      return undefined;
    }
  }
}

/** Process groups to end if this process exits without closing them. */
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
    // Everyone in the group has ended.
  }
}

async function settlesWithin(promise: Promise<void>, milliseconds: number): Promise<boolean> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(resolve, milliseconds, false);
  });
  try {
    return await Promise.race([promise.then(() => true), late]);
  } finally {
    clearTimeout(timer);
  }
}

function cannotRun(command: McpCommand, error: Error): ToolEnvError {
  const remedy = 'check the command, that it is installed, and its working folder';
  const message = `${describeServer(command)} cannot be run: ${messageOf(error)}: ${remedy}.`;
  return new ToolEnvError('usage.mcp_command', message, { cause: error });
}
