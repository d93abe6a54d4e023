/** Heartbeats of files: a process that lives writes into its file again and again, so that others see that it does. */
import { readFile, stat } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';

/** Milliseconds between two beats. */
export const heartbeatInterval = 3000;

/**
 * The beats come from a thread: a training step may block the event loop for minutes. A file that has gone is not made anew. On a
 * full disk, where nothing can be written, the file still gets a new time.
 */
const program = `
const { closeSync, openSync, utimesSync, writeSync } = require('node:fs');
const { parentPort } = require('node:worker_threads');
const files = new Map();
let beats = 0;
const beat = (file) => {
  try {
    const open = openSync(file, 'r+');
    try {
      writeSync(open, String(++beats), 0);
    } catch {
      utimesSync(file, new Date(), new Date());
    } finally {
      closeSync(open);
    }
  } catch {}
};
parentPort.on('message', ({ file, every }) => {
  clearInterval(files.get(file));
  files.delete(file);
  if (every !== undefined) files.set(file, setInterval(beat, every, file));
});
`;

let thread: Worker | undefined;

/** Lets a file of this process beat until {@link stopBeating} or the end of the process. */
export function touchHeartbeat(file: string, every: number = heartbeatInterval): void {
  if (!thread) {
    thread = new Worker(program, { eval: true, execArgv: [], stdout: true, stderr: true });
    // Without the thread, the lock counts for the expiry.
    thread.on('error', () => {});
    thread.unref();
  }
  thread.postMessage({ file, every });
}

export function stopBeating(file: string): void {
  thread?.postMessage({ file });
}

/**
 * Watches a file of another process for at most `expiry` milliseconds of this process's clock, so that clocks need not agree:
 * `beats` at the first change, `gone` when the file is gone, `silent` after the time.
 */
export async function watchHeartbeat(file: string, expiry: number): Promise<'beats' | 'gone' | 'silent'> {
  const first = await lookAt(file);
  const poll = Math.min(250, expiry / 4);
  for (const end = performance.now() + expiry; first !== undefined; await sleep(poll)) {
    const now = await lookAt(file);
    if (now === undefined) break;
    if (now !== first) return 'beats';
    if (performance.now() >= end) return 'silent';
  }
  return 'gone';
}

/** Text and time of the last beat; `undefined` if there is no such file. Reading asks a file server, where `stat` may be answered from memory. */
async function lookAt(file: string): Promise<string | undefined> {
  try {
    const text = await readFile(file, 'utf8');
    return `${text} ${(await stat(file)).mtimeMs}`;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
