/** llama.cpp's server over the tiny policy, in a process of its own. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { freePort } from '../free-port.ts';

export interface LlamaServer {
  /** Where an OpenAI client begins. */
  url: string;
  stop(): Promise<void>;
}

/** @throws Error if the file cannot be written; Python's output is on stderr. */
export function writeGguf(python: string, folder: string, file: string): void {
  const script = join(import.meta.dirname, 'write_gguf.py');
  const { status } = spawnSync(python, [script, folder, file], { stdio: ['ignore', 2, 2] });
  if (status !== 0) throw new Error('The checkpoint could not be written as GGUF: see the message above.');
}

/** @throws Error if the server does not listen within a minute. */
export async function startLlama(python: string, file: string, contextLength: number): Promise<LlamaServer> {
  const port = await freePort();
  const script = join(import.meta.dirname, 'serve_gguf.py');
  const args = [script, file, String(port), String(contextLength)];
  const child = spawn(python, args, { stdio: ['pipe', 'pipe', 'ignore'] });
  await listening(child);
  return {
    url: `http://127.0.0.1:${port}/v1`,
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const gone = once(child, 'exit');
      child.kill('SIGKILL');
      await gone;
    },
  };
}

/** Resolves at the server's word, and reads on: a closed pipe would end the server. */
async function listening(child: ChildProcess): Promise<void> {
  const late = setTimeout(() => child.kill('SIGKILL'), 60_000);
  let said = '';
  try {
    await new Promise<void>((resolve, reject) => {
      child.stdout!.on('data', (text: Buffer) => {
        said += text;
        if (said.includes('listening')) resolve();
      });
      child.once('exit', () => reject(new Error(`llama.cpp's server ended: ${said.slice(-2000)}`)));
    });
  } finally {
    clearTimeout(late);
  }
}
