/** Programs of others: what they print, and servers that begin and end. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';

/** @throws Error if the program fails; its output is on stderr. */
export function mustRun(program: string, ...args: string[]): void {
  if (spawnSync(program, args, { stdio: ['ignore', 2, 2] }).status === 0) return;
  throw new Error(`${program} ${args.join(' ')} failed: see its message above.`);
}

/**
 * The JSON that a program prints for the JSON that it reads. The program runs beside this process, which may serve it.
 * @throws Error if it prints none; its message is on stderr.
 */
export async function jsonOf<Answer>(
  program: string,
  args: readonly string[],
  input?: unknown,
): Promise<Answer> {
  const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  child.stdin.on('error', () => {});
  child.stdin.end(input === undefined ? '' : JSON.stringify(input));
  const printed = await text(child.stdout);
  try {
    return JSON.parse(printed);
  } catch {
    const shown = printed.slice(0, 1_000);
    throw new Error(`${args.join(' ')} failed: see its message above. It printed: ${shown}`);
  }
}

/** Resolves when a server answers. @throws Error with `otherwise` if it ends or is not there in time. */
export async function answering(
  url: string,
  server: ChildProcess,
  otherwise: () => string,
  seconds = 60,
): Promise<void> {
  for (const until = Date.now() + 1000 * seconds; server.exitCode === null && Date.now() < until; ) {
    if ((await fetch(url).catch(() => undefined))?.ok) return;
    await sleep(100);
  }
  throw new Error(`No server answers at ${url}: ${otherwise()}`);
}

/** Kills a detached server and the processes that it has started, as `kill -9` does. */
export async function killGroup(server: ChildProcess): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return;
  const gone = once(server, 'exit');
  process.kill(-server.pid!, 'SIGKILL');
  await gone;
}
