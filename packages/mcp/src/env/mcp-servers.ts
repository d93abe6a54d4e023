/** McpServers: the servers of an environment. Each episode gets the tools of all of them. */
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { ToolEnvError } from '@toolenv/core';
import type { ToolLease, ToolSource } from '@toolenv/core/recording';
import { didYouMean } from '@toolenv/core/schemas';
import { ToolNames, usableToolName } from '@toolenv/core/tools';
import type { McpHooks } from '../client/mcp-hooks.ts';
import { type McpLease, type McpPool, type McpPoolOptions, openMcpPool } from '../client/mcp-pool.ts';
import { type McpEndpoint, type ServerAdditions, withAdditions } from '../client/mcp-server.ts';
import type { McpTool } from '../client/mcp-tool.ts';
import type { CallOfReset } from '../client/pooled-server.ts';

/** What a server may depend on, if each episode has its own. */
export interface McpServerContext<Task = unknown, Options = unknown> {
  task: Task;
  /** A fresh, empty folder of the episode. It is removed at the end. */
  folder: string;
  episodeId: string;
  options: Options;
}

/** A server that any episode may use, or a function that says how to start the server of one episode. */
export type McpServerOf<Task = unknown, Options = unknown> =
  | McpEndpoint
  | ((context: McpServerContext<Task, Options>) => McpEndpoint | Promise<McpEndpoint>);

/** What an episode asks for. */
export interface McpServersRequest<Task = unknown, Options = unknown>
  extends McpServerContext<Task, Options> {
  signal?: AbortSignal;
}

/** What {@link EnvReset} receives. */
export interface McpResetContext {
  /** Calls a tool of the server by its own name. Throws if the tool is missing or fails. */
  call: CallOfReset;
  /** The server's name in `servers`. */
  server: string;
  /** The folder of a server from a function. */
  folder?: string | undefined;
  /** Removes what is in the folder. */
  emptyFolder(): Promise<void>;
}

/** Brings a server back to its first state. */
export type EnvReset = (context: McpResetContext) => unknown;

/** How servers are reached: how long to wait for them, and by which protocol. */
export type ServerAccess = Pick<
  McpPoolOptions,
  'connectTimeout' | 'callTimeout' | 'closeGrace' | 'initialize'
>;

/** `size` is divided among the servers. `lifetime` is not for servers from functions, each of which serves one episode. */
interface McpServersOptions<Task, Options>
  extends Pick<McpPoolOptions, 'lifetime' | 'offer'>,
    Required<Pick<McpPoolOptions, 'size'>> {
  /** Whether the tools of a server are named `<server>_<tool>`. */
  prefix: boolean;
  /** Names of the tools that the policy gets. They must exist. */
  only: readonly string[] | undefined;
  reset: EnvReset | undefined;
  /** Makes the folder of a server that outlives its episode. */
  createFolder(): Promise<string>;
  /** What to add to each server. */
  additions: ServerAdditions;
  access: ServerAccess;
  hooks: McpHooks | undefined;
  /** An episode for which servers are started once, to list their tools. */
  first: McpServersRequest<Task, Options>;
}

interface Member<Task, Options> {
  name: string;
  names: ToolNames;
  /** Prefix of the names of its tools. */
  prefix: string;
  server: McpServerOf<Task, Options>;
  pool: McpPool;
}

/**
 * Starts each server once, and lists its tools.
 * @throws ToolEnvError `usage.mcp_tool` for a name in `only` that no server offers, `usage.mcp_tool_names` for two tools of one
 *   name, and as {@link openMcpPool} does.
 */
export async function openMcpServers<Task, Options>(
  servers: Readonly<Record<string, McpServerOf<Task, Options>>>,
  options: McpServersOptions<Task, Options>,
): Promise<ToolSource<McpServersRequest<Task, Options>>> {
  const { size, lifetime, only, offer, reset, createFolder, additions, access, hooks, first } = options;
  const folders = new WeakMap<McpEndpoint, string>();
  const entries = Object.entries(servers).map(
    ([name, server]) => [name, withAdditionsOf(server, additions)] as const,
  );
  const share = Math.max(1, Math.floor(size / entries.length));
  const opening = entries.map(async ([name, server]): Promise<Member<Task, Options>> => {
    const isOwn = typeof server === 'function';
    const prefix = options.prefix ? `${name}_` : '';
    const pool = await openMcpPool(isOwn ? await server(first) : server, {
      ...access,
      ...hooks,
      size: share,
      lifetime,
      serverPerLease: isOwn,
      reset:
        reset &&
        ((call, endpoint) => {
          const folder = folders.get(endpoint);
          const emptyFolder = async () => {
            if (folder !== undefined) await empty(folder);
          };
          return reset({ call, server: name, folder, emptyFolder });
        }),
      offer,
    });
    return { name, names: new ToolNames(), prefix, server, pool };
  });
  const settled = await Promise.allSettled(opening);
  const members = settled.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
  const opened = new McpServers(members, reset && { createFolder, folders });
  try {
    await Promise.all(opening);
    opened.checkNames(only);
    return opened;
  } catch (error) {
    await opened.close();
    throw error;
  }
}

function withAdditionsOf<Task, Options>(
  server: McpServerOf<Task, Options>,
  additions: ServerAdditions,
): McpServerOf<Task, Options> {
  if (typeof server !== 'function') return withAdditions(server, additions);
  return async (context) => withAdditions(await server(context), additions);
}

interface LastingFolders {
  createFolder(): Promise<string>;
  folders: WeakMap<McpEndpoint, string>;
}

class McpServers<Task, Options> implements ToolSource<McpServersRequest<Task, Options>> {
  readonly #members: readonly Member<Task, Options>[];
  /** The folders of servers that outlive their episodes, if there are such servers. */
  readonly #lasting: LastingFolders | undefined;

  constructor(members: readonly Member<Task, Options>[], lasting: LastingFolders | undefined) {
    this.#members = members;
    this.#lasting = lasting;
  }

  checkNames(only: readonly string[] = []): void {
    const owners = new Map<string, string>();
    for (const member of this.#members) {
      for (const { name } of named(member, member.pool)) {
        const other = owners.get(name) ?? member.name;
        if (other !== member.name) throw sameName(name, other, member.name);
        owners.set(name, member.name);
      }
    }
    const missing = only.find((name) => !owners.has(usableToolName(name)));
    if (missing !== undefined) throw noSuchTool(missing, [...owners.keys()]);
  }

  async acquire(request?: McpServersRequest<Task, Options>): Promise<ToolLease> {
    const toolsOf = (holders: readonly { tools: readonly McpTool[] }[]) =>
      this.#members.flatMap((member, index) => named(member, holders[index]!));
    const instructions = this.#instructions;
    const said = { ...(instructions !== '' && { instructions }) };
    if (!request) {
      const pools = this.#members.map(({ pool }) => pool);
      return { ...said, tools: toolsOf(pools), release: async () => {} };
    }
    const leases: McpLease[] = [];
    try {
      // In the same order for all episodes, so that no two wait for each other.
      for (const { server, pool } of this.#members) {
        const own = typeof server === 'function' ? () => this.#startOf(server, request) : undefined;
        leases.push(await pool.acquire({ signal: request.signal, server: own }));
      }
    } catch (error) {
      await releaseAll(leases);
      throw error;
    }
    const [folder] = leases.flatMap((lease) => this.#lasting?.folders.get(lease.server) ?? []);
    return {
      ...said,
      ...(folder !== undefined && { folder }),
      get tools() {
        return toolsOf(leases);
      },
      async ready(signal) {
        await Promise.all(leases.map((lease) => lease.ready(signal)));
      },
      release: () => releaseAll(leases),
    };
  }

  /** The server of an episode, or the first of several episodes. */
  async #startOf(
    server: Exclude<McpServerOf<Task, Options>, McpEndpoint>,
    request: McpServersRequest<Task, Options>,
  ): Promise<McpEndpoint> {
    if (!this.#lasting) return server(request);
    const folder = await this.#lasting.createFolder();
    const endpoint = { ...(await server({ ...request, folder })) };
    this.#lasting.folders.set(endpoint, folder);
    return endpoint;
  }

  async close(): Promise<void> {
    await Promise.all(this.#members.map(({ pool }) => pool.close()));
  }

  /** What the servers say about their use, each under its name if there are several; '' if they say nothing. */
  get #instructions(): string {
    const said = this.#members.flatMap(({ name, pool: { instructions = '' } }) =>
      instructions.trim() === '' ? [] : [{ name, text: instructions.trim() }],
    );
    const isAlone = this.#members.length === 1;
    return said.map(({ name, text }) => (isAlone ? text : `${name}:\n${text}`)).join('\n\n');
  }
}

/** The tools under the names that the environment uses. */
function named(
  { names, prefix }: { names: ToolNames; prefix: string },
  { tools }: { tools: readonly McpTool[] },
): readonly McpTool[] {
  if (prefix === '') return tools;
  const own = names.of(tools.map(({ name }) => `${prefix}${name}`));
  return tools.map((tool) => ({ ...tool, name: own.get(`${prefix}${tool.name}`)! }));
}

async function empty(folder: string): Promise<void> {
  for (const name of await readdir(folder)) await rm(join(folder, name), { recursive: true, force: true });
}

async function releaseAll(leases: readonly McpLease[]): Promise<void> {
  await Promise.all(leases.map((lease) => lease.release()));
}

function noSuchTool(name: string, names: readonly string[]): ToolEnvError {
  const hint = didYouMean(name, names, 'Their tools');
  return new ToolEnvError('usage.mcp_tool', `"only" names "${name}", which no server offers. ${hint}`);
}

function sameName(tool: string, a: string, b: string): ToolEnvError {
  const remedy = `set \`prefix: true\`, so that they are named ${a}_${tool} and ${b}_${tool}`;
  return new ToolEnvError(
    'usage.mcp_tool_names',
    `The servers ${a} and ${b} both have a tool "${tool}": ${remedy}.`,
  );
}
