/**
 * `npm run interop -- openai`: plays and trains on a real llama.cpp server, which serves the tiny policy's own weights.
 */

import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { ToolEnvError } from '@toolenv/core';
import { openAiPolicy } from '@toolenv/openai';
import { scratchFolder } from '../../scratch-folder.ts';
import { check } from '../check.ts';
import { freePort } from '../free-port.ts';
import { killGroup, mustRun } from '../programs.ts';
import { checkServer } from './check-server.ts';

interface LlamaServer {
  /** Where an OpenAI client begins. */
  url: string;
  stop(): Promise<void>;
}

/** @throws Error if the server does not listen within a minute. */
async function startLlama(python: string, file: string, contextLength: number): Promise<LlamaServer> {
  const port = await freePort();
  const script = join(import.meta.dirname, 'serve_gguf.py');
  const args = [script, file, String(port), String(contextLength)];
  const child = spawn(python, args, { detached: true, stdio: ['pipe', 'pipe', 'ignore'] });
  await listening(child);
  return {
    url: `http://127.0.0.1:${port}/v1`,
    stop: () => killGroup(child),
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

const checkpoint = join(import.meta.dirname, '../../../packages/checkpoints/tiny');

/** @param python Has the packages of openai.txt. */
export async function checkOpenAi(python: string): Promise<void> {
  await using scratch = await scratchFolder();
  const file = join(scratch.path, 'tiny.gguf');
  let server: LlamaServer | undefined;
  try {
    mustRun(python, join(import.meta.dirname, 'write_gguf.py'), checkpoint, file);
    server = await startLlama(python, file, 1024);
    await checkServer({ name: 'llama.cpp', url: server.url }, scratch.path);
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
  }
}
