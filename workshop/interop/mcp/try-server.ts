/** tryServer: lists a server's tools with the CLI and with connectMcp, calls them, closes it, and looks for processes that are left. */
import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf, type ToolCallRecord } from '@toolenv/core';
import { dispatch } from '@toolenv/core/tools';
import { connectMcp, type McpConnection, type McpEndpoint } from '@toolenv/mcp';
import type { Place } from './place.ts';
import type { TriedCall, TriedServer } from './tried-server.ts';

/** What happened, as the page tells it. Nothing in it depends on the machine or the day. */
export interface Tried {
  name: string;
  package: string;
  from: TriedServer['from'];
  version: string;
  transport: 'stdio' | 'HTTP';
  /** The revision of MCP that was negotiated. */
  revision?: string;
  /** The revision that the server speaks with an older client, if it spoke MCP 2026-07-28. */
  olderRevision?: string;
  tools?: number;
  /** The call worked. */
  valid?: boolean;
  /** Who refused wrong arguments: the tool's schema, and the server if it got them all the same. */
  invalid?: 'schema and server' | 'schema';
  /** How the server reports that a call failed, and what the model reads. */
  failing?: { as: 'error' | 'text'; text: string };
  /** No process is left after closing. Absent for servers that toolenv does not start. */
  ended?: boolean;
  /** Why the server cannot be used. */
  error?: string;
  note?: string;
}

export type Check = (passed: boolean, title: string, otherwise: string) => void;

const root = join(import.meta.dirname, '../../..');
const options = {
  limits: { maxTurns: 1, maxCallsPerTurn: 1, toolTimeout: 60_000, maxToolCharacters: 100_000 },
  episodeId: 'interop',
  seed: 1,
  firstCallIndex: 0,
};
/** The first revision without `initialize`. */
const modern = '2026-07-28';
/** Characters of a server's words on the page. */
const longest = 120;

export async function tryServer(
  server: TriedServer,
  version: string,
  place: Place,
  check: Check,
): Promise<Tried> {
  const { name, package: packageName, from, note } = server;
  const mark = randomUUID();
  const endpoint = marked(await server.start(place), mark);
  const transport = 'command' in endpoint ? 'stdio' : 'HTTP';
  const tried: Tried = { name, package: packageName, from, version, transport, ...(note && { note }) };
  const verify = (passed: boolean, what: string, otherwise: unknown) =>
    check(passed, `${name}: ${what}`, typeof otherwise === 'string' ? otherwise : JSON.stringify(otherwise));
  try {
    const connection = await connectMcp(endpoint, { connectTimeout: 60_000, onWarning: () => {} });
    try {
      Object.assign(tried, { revision: connection.protocolVersion, tools: connection.tools.length });
      verify(server.fails === undefined, 'can be used', 'it can be used now: give it calls');
      if (from !== 'own' && transport === 'stdio') listByCli(endpoint, connection, verify);
      await call(server, place, connection, tried, verify);
    } finally {
      await connection.close();
    }
    if (tried.revision! >= modern) {
      const olderRevision = await revisionForOlder(endpoint);
      if (olderRevision !== undefined) tried.olderRevision = olderRevision;
    }
  } catch (error) {
    tried.error = anonymous(messageOf(error), place);
    verify(
      server.fails?.test(messageOf(error)) ?? false,
      'cannot be used, for the known reason',
      messageOf(error),
    );
  }
  if (transport === 'stdio') {
    const left = await processesLeft(mark);
    tried.ended = left.length === 0;
    verify(left.length === 0, 'leaves no process', left);
  }
  return tried;
}

/** `undefined` if the server refuses older clients. */
async function revisionForOlder(endpoint: McpEndpoint): Promise<string | undefined> {
  try {
    const connection = await connectMcp(endpoint, { connectTimeout: 60_000, initialize: true });
    await connection.close();
    return connection.protocolVersion;
  } catch {
    return undefined;
  }
}

type Verify = (passed: boolean, what: string, otherwise: unknown) => void;

async function call(
  server: TriedServer,
  place: Place,
  connection: McpConnection,
  tried: Tried,
  verify: Verify,
): Promise<void> {
  const valid = server.valid?.(place);
  if (valid) {
    const { mistake, result, text } = await run(valid, connection);
    tried.valid = !mistake && !result?.isError && valid.gives.test(text);
    verify(tried.valid, `${valid.tool} works`, text);
  }
  if (server.invalid) {
    const { mistake } = await run(server.invalid, connection);
    verify(
      mistake?.code === 'invalid_arguments',
      'wrong arguments are the model’s mistake',
      mistake ?? 'none',
    );
    const tool = connection.tools.find((each) => each.name === server.invalid!.tool)!;
    const signal = AbortSignal.timeout(60_000);
    const raw = await tool.execute(server.invalid.arguments, {
      signal,
      rng: { int: () => 0 } as never,
      episodeId: 'interop',
      callIndex: 0,
    });
    tried.invalid = raw.isError ? 'schema and server' : 'schema';
    verify(
      connection.lost === undefined,
      'is still connected after wrong arguments',
      connection.lost?.message,
    );
  }
  const failing = server.failing?.(place);
  if (failing) {
    const { mistake, result, text } = await run(failing, connection);
    tried.failing = { as: result?.isError ? 'error' : 'text', text: anonymous(text, place) };
    const said = mistake?.code !== 'unknown_tool' && failing.gives.test(text);
    verify(said, `${failing.tool} fails, and the model reads why`, text);
    verify(connection.lost === undefined, 'is still connected after a failed call', connection.lost?.message);
  }
}

async function run(
  { tool, arguments: args }: Pick<TriedCall, 'tool' | 'arguments'>,
  connection: McpConnection,
): Promise<ToolCallRecord> {
  const [record] = await dispatch([{ id: '1', name: tool, arguments: args }], [...connection.tools], options);
  return record!;
}

/** `toolenv tools --mcp` must list the same tools. */
function listByCli(endpoint: McpEndpoint, connection: McpConnection, verify: Verify): void {
  if (!('command' in endpoint)) return;
  const { command, args = [], env = {}, cwd } = endpoint;
  const line = [command, ...args].map((word) => `'${word}'`).join(' ');
  const flags = ['--import', import.meta.resolve('tsx'), '--conditions=@toolenv/source'];
  const cli = [join(root, 'packages/cli/src/main.ts'), 'tools', '--mcp', line, '--json'];
  const variables = Object.entries(env).flatMap(([key, value]) => ['--env', `${key}=${value}`]);
  const { stdout, stderr } = spawnSync(process.execPath, [...flags, ...cli, ...variables], {
    cwd,
    encoding: 'utf8',
  });
  const names = connection.tools.map((tool) => tool.name);
  let listed: string[] = [];
  try {
    listed = (JSON.parse(stdout) as { name: string }[]).map((tool) => tool.name);
  } catch {
    // The check below says what came instead.
  }
  const what = `\`toolenv tools --mcp\` lists ${names.length} tools`;
  verify(names.length > 0 && names.join() === listed.join(), what, stderr || listed.join());
}

/** Every process that the server starts inherits this variable. */
const variable = 'TOOLENV_INTEROP_MARK';

function marked(endpoint: McpEndpoint, mark: string): McpEndpoint {
  return 'command' in endpoint ? { ...endpoint, env: { ...endpoint.env, [variable]: mark } } : endpoint;
}

/** The command lines of marked processes that still run (Linux, proc(5)). A process may need a moment to end. */
async function processesLeft(mark: string): Promise<string[]> {
  for (let attempt = 0; ; attempt++) {
    const left = readdirSync('/proc').flatMap((pid) => (/^\d+$/.test(pid) ? commandOf(pid, mark) : []));
    if (left.length === 0 || attempt === 10) return left;
    await sleep(200);
  }
}

function commandOf(pid: string, mark: string): string[] {
  try {
    if (!readFileSync(`/proc/${pid}/environ`, 'utf8').includes(`${variable}=${mark}`)) return [];
    return [readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')];
  } catch {
    // It has ended, or belongs to another user.
    return [];
  }
}

function anonymous(text: string, { folder }: Place): string {
  const same = text
    .replaceAll(folder, '…')
    .replaceAll(root, '…')
    .replace(/127\.0\.0\.1:\d+/g, '127.0.0.1')
    .replace(/\s+/g, ' ')
    .replace(/.*; its stderr says: (.*): check the server .*/, '$1')
    .trim();
  return same.length <= longest ? same : `${same.slice(0, longest - 1)}…`;
}
