/** Servers for tests: real ones from npm, and one that misbehaves on demand. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { McpCommand } from '@toolenv/mcp';

const require = createRequire(import.meta.url);

export function realServer(
  name: 'everything' | 'filesystem' | 'memory' | 'sequential-thinking',
  ...args: string[]
): McpCommand {
  const json = require.resolve(`@modelcontextprotocol/server-${name}/package.json`);
  return { command: process.execPath, args: [join(dirname(json), 'dist', 'index.js'), ...args] };
}

export const badServer: McpCommand = {
  command: process.execPath,
  args: [join(import.meta.dirname, 'bad-server.js')],
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
