/** Third-party clients, driven by a program: MCP's Python SDK, and the command line of MCP's Inspector. */
import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { type Peer, runPeer } from './peers.ts';

/** A URL, or a command that is started and served over stdio. */
export type Target = { url: string } | { command: string[] };

export interface Answer {
  tools?: { name: string; inputSchema: { properties?: object } }[];
  messages?: { content: { text: string } }[];
  content?: { text: string }[];
  isError?: boolean;
  _meta?: Record<string, unknown>;
  error?: unknown;
}

export interface Driver {
  /** What the client says about itself. */
  readonly title: string;
  /** Whether a connection lasts for many requests. */
  readonly lasts: boolean;
  /** Whether it calls tools that the server does not list. */
  readonly callsUnlisted: boolean;
  tools(): Promise<Answer>;
  prompt(name: string, args?: Record<string, string>): Promise<Answer>;
  call(name: string, args?: Record<string, unknown>): Promise<Answer>;
  close(): Promise<void>;
}

/** @param modern Whether it may negotiate MCP 2026-07-28. */
export async function pythonDriver(python: string, target: Target, modern: boolean): Promise<Driver> {
  const script = join(import.meta.dirname, 'drive.py');
  const named = 'url' in target ? [target.url] : target.command;
  const child: ChildProcess = spawn(python, [script, modern ? 'auto' : 'legacy', ...named], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const ended = new Promise<void>((resolve) => {
    child.once('close', () => resolve());
  });
  const lines = createInterface({ input: child.stdout! })[Symbol.asyncIterator]();
  const read = async () => {
    const { value, done } = await lines.next();
    if (done) throw new Error('The Python SDK ended: see its message above.');
    return JSON.parse(value);
  };
  const ask = async (request: object): Promise<Answer> => {
    child.stdin!.write(`${JSON.stringify(request)}\n`);
    return read();
  };
  const { version, sdk } = await read();
  return {
    title: `Python SDK ${sdk}, MCP ${version}`,
    lasts: true,
    callsUnlisted: true,
    tools: () => ask({ tools: true }),
    prompt: (name, args = {}) => ask({ prompt: name, arguments: args }),
    call: (name, args = {}) => ask({ call: name, arguments: args }),
    async close() {
      child.stdin!.end();
      await ended;
    },
  };
}

/** Each request is a process of its own. */
export function inspectorDriver(inspector: Peer, target: Target, modern: boolean): Driver {
  const named = 'url' in target ? [target.url, '--transport', 'http'] : target.command;
  const options = ['--protocol-era', modern ? 'modern' : 'legacy', '--format', 'json', '--quiet'];
  const ask = async (...request: string[]): Promise<Answer> => {
    const separator = 'url' in target ? [] : ['--'];
    const child = runPeer(inspector, ['--cli', ...options, ...request, ...separator, ...named]);
    const [out, failed] = await Promise.all([text(child.stdout!), text(child.stderr!)]);
    return out === '' ? { error: failed } : JSON.parse(out).result;
  };
  const pairs = (args: Record<string, string>) =>
    Object.entries(args).map(([name, value]) => `${name}=${value}`);
  return {
    title: `Inspector, MCP ${modern ? '2026-07-28' : '2025-11-25'}`,
    lasts: false,
    callsUnlisted: false,
    tools: () => ask('--method', 'tools/list'),
    prompt: (name, args = {}) => {
      const given = Object.keys(args).length > 0 ? ['--prompt-args', ...pairs(args)] : [];
      return ask('--method', 'prompts/get', '--prompt-name', name, ...given);
    },
    call: (name, args = {}) =>
      ask('--method', 'tools/call', '--tool-name', name, '--tool-args-json', JSON.stringify(args)),
    close: async () => {},
  };
}
