/**
 * `npm run interop -- openai`: plays and trains on a real llama.cpp server, which serves the tiny policy's own weights.
 */

import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ToolEnvError } from '@toolenv/core';
import { openAiPolicy } from '@toolenv/openai';
import { freePort } from '../free-port.ts';
import { checkServer } from './check-server.ts';

interface LlamaServer {
  /** Where an OpenAI client begins. */
  url: string;
  stop(): Promise<void>;
}

/** @throws Error if the file cannot be written; Python's output is on stderr. */
function writeGguf(python: string, folder: string, file: string): void {
  const script = join(import.meta.dirname, 'write_gguf.py');
  const { status } = spawnSync(python, [script, folder, file], { stdio: ['ignore', 2, 2] });
  if (status !== 0) throw new Error('The checkpoint could not be written as GGUF: see the message above.');
}

/** @throws Error if the server does not listen within a minute. */
async function startLlama(python: string, file: string, contextLength: number): Promise<LlamaServer> {
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

type Check = (passed: boolean, title: string, otherwise: string) => void;

const checkpoint = join(import.meta.dirname, '../../../packages/checkpoints/tiny');

/** @param python Has the packages of openai.txt. */
export async function checkOpenAi(python: string, check: Check): Promise<void> {
  const scratch = await mkdtemp(join(tmpdir(), 'toolenv-openai-'));
  const file = join(scratch, 'tiny.gguf');
  let server: LlamaServer | undefined;
  try {
    writeGguf(python, checkpoint, file);
    server = await startLlama(python, file, 1024);
    await checkServer({ name: 'llama.cpp', url: server.url }, scratch, check);
    await server.stop();
    const kill = openAiPolicy({ url: server.url, model: 'tiny', retries: 0 }).then(
      () => 'an open policy',
      (error: unknown) => (ToolEnvError.isInstance(error) ? error.code : String(error)),
    );
    check(
      (await kill) === 'infrastructure.model_unreachable',
      'llama.cpp: a killed server is a fault',
      await kill,
    );
    server = undefined;
  } finally {
    await server?.stop();
    await rm(scratch, { recursive: true, force: true });
  }
}
