/** ModelDoor: lets the programs in a container reach the model, and nothing else, also if the container has no network. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { ToolEnvError } from '@toolenv/core';
import { openSocketDoor } from '@toolenv/serving';

const program = fileURLToPath(new URL('./door.js', import.meta.url));

export interface ModelDoor extends AsyncDisposable {
  /** The base URL in the container: `http://127.0.0.1:<port>/v1`. */
  readonly baseURL: string;
}

/**
 * Opens a door to the server of a base URL at the loopback of this machine. A program of this machine listens in the network of the
 * container, by `nsenter`, which needs root and a daemon on this machine.
 * @param pid Of a process in the container, as this machine counts.
 * @throws ToolEnvError `usage.harbor_agent` if the network cannot be entered.
 */
export async function openDoor(pid: number, baseURL: string): Promise<ModelDoor> {
  const { port, pathname } = new URL(baseURL);
  const door = await openSocketDoor(Number(port));
  const args = [`--net=/proc/${pid}/ns/net`, process.execPath, program, door.path];
  const child = spawn('nsenter', args, { env: {}, stdio: ['pipe', 'pipe', 'pipe'] });
  const close = async () => {
    child.stdin.destroy();
    child.kill('SIGKILL');
    await door[Symbol.asyncDispose]();
  };
  child.stdin.on('error', () => {});
  const said = Promise.race([
    once(child.stdout.setEncoding('utf8'), 'data').then(([line]) => Number(line)),
    once(child, 'error').then(([error]) => String(error)),
    once(child.stderr.setEncoding('utf8'), 'data').then(([line]) => String(line)),
  ]);
  const inside = await said;
  if (typeof inside === 'number' && inside > 0)
    return { baseURL: `http://127.0.0.1:${inside}${pathname}`, [Symbol.asyncDispose]: close };
  await close();
  const remedy = 'run this as root on the machine of the daemon, with nsenter of util-linux';
  throw new ToolEnvError(
    'usage.harbor_agent',
    `The network of a container cannot be entered (${String(inside).trim()}): ${remedy}.`,
  );
}
