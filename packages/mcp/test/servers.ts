/** Servers for tests: real ones from npm, and one that misbehaves on demand. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { McpCommand } from '@toolenv/mcp';
import { bundle } from './bundle.ts';

const require = createRequire(import.meta.url);

export function realServer(
  name: 'everything' | 'filesystem' | 'memory' | 'sequential-thinking',
  ...args: string[]
): McpCommand {
  const dist = join(dirname(require.resolve(`@modelcontextprotocol/server-${name}/package.json`)), 'dist');
  // The server `everything` reads its documents relative to this folder.
  const at = name === 'everything' ? join(dist, 'resources/index.js') : undefined;
  return { command: process.execPath, args: [bundle(join(dist, 'index.js'), at), ...args] };
}

export const badServer: McpCommand = {
  command: process.execPath,
  get args() {
    return [bundle(join(import.meta.dirname, 'bad-server.js'))];
  },
};

/** Serves the door environment over stdio. */
export const doorServer: McpCommand & { args: string[] } = {
  command: process.execPath,
  get args() {
    return [bundle(join(import.meta.dirname, 'serve-stdio.ts'))];
  },
};

/** Starts the server that misbehaves over Streamable HTTP. */
export function badHttpServer(
  mode: 'http' | 'resumable' | 'forgetful' | 'fails-first' = 'http',
): Promise<{ url: string; process: ChildProcess }> {
  return httpServer(badServer, mode);
}

/** Starts a server of these tests over Streamable HTTP. */
export async function httpServer(
  { command, args = [] }: McpCommand,
  mode: string,
): Promise<{ url: string; process: ChildProcess }> {
  const started = spawn(command, [...args, mode], { stdio: ['ignore', 'ignore', 'pipe'] });
  const port = await new Promise((resolve) =>
    started.stderr!.on('data', (chunk) => resolve(/listening on (\d+)/.exec(String(chunk))?.[1])),
  );
  return { url: `http://127.0.0.1:${port}/mcp`, process: started };
}

/** Whether any process of the process group runs. */
export function groupLives(pid: number): boolean {
  const processes = execFileSync('ps', ['-eo', 'pgid=,stat='], { encoding: 'utf8' }).split('\n');
  // Zombies (Z) have ended, but their parent has not read their exit code.
  return processes.some((line) => new RegExp(`^\\s*${pid}\\s+[^Z]`).test(line));
}

/** The context of a call, as an environment passes it. */
export function context(signal: AbortSignal = new AbortController().signal) {
  return { signal, rng: { int: () => 0 } as never, episodeId: 'episode', callIndex: 0 };
}
