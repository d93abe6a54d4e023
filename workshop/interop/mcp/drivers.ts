/** Third-party clients, driven by a program: those of libraries, and the command line of MCP's Inspector. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
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
  prompt(name: string): Promise<Answer>;
  call(name: string, args?: Record<string, unknown>): Promise<Answer>;
  close(): Promise<void>;
}

/**
 * A program that answers requests, as lines of JSON, with the client of a library. `python/drive.py` has the protocol.
 * @param modern Whether it may negotiate MCP 2026-07-28.
 */
export async function libraryDriver(
  library: string,
  program: Peer,
  target: Target,
  modern: boolean,
): Promise<Driver> {
  const named = 'url' in target ? [target.url] : target.command;
  const child = spawn(program.command, [...program.args, modern ? 'auto' : 'legacy', ...named], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const ended = once(child, 'close');
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const read = async () => {
    const { value, done } = await lines.next();
    if (done) throw new Error(`The client of ${library} ended: see its message above.`);
    return JSON.parse(value);
  };
  const ask = async (request: object): Promise<Answer> => {
    child.stdin.write(`${JSON.stringify(request)}\n`);
    return read();
  };
  const { version } = await read();
  return {
    title: `${library}, MCP ${version}`,
    lasts: true,
    callsUnlisted: true,
    tools: () => ask({ tools: true }),
    prompt: (name) => ask({ prompt: name }),
    call: (name, args = {}) => ask({ call: name, arguments: args }),
    async close() {
      child.stdin.end();
      await ended;
    },
  };
}

/** Each request is a process of its own. */
export function inspectorDriver(inspector: Peer, target: Target, modern: boolean): Driver {
  const named = 'url' in target ? [target.url, '--transport', 'http'] : target.command;
  const era = ['--protocol-era', modern ? 'modern' : 'legacy', '--connect-timeout', '60000'];
  const options = [...era, '--format', 'json', '--quiet'];
  const ask = async (...request: string[]): Promise<Answer> => {
    const separator = 'url' in target ? [] : ['--'];
    const child = runPeer(inspector, ['--cli', ...options, ...request, ...separator, ...named]);
    const [out, failed] = await Promise.all([text(child.stdout!), text(child.stderr!)]);
    return out === '' ? { error: failed } : JSON.parse(out).result;
  };
  return {
    title: `Inspector, MCP ${modern ? '2026-07-28' : '2025-11-25'}`,
    lasts: false,
    callsUnlisted: false,
    tools: () => ask('--method', 'tools/list'),
    prompt: (name) => ask('--method', 'prompts/get', '--prompt-name', name),
    call: (name, args = {}) =>
      ask('--method', 'tools/call', '--tool-name', name, '--tool-args-json', JSON.stringify(args)),
    close: async () => {},
  };
}
