/**
 * `npm run interop -- openai`: plays and trains on a real llama.cpp server, which serves the tiny policy's own weights.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ToolEnvError } from '@toolenv/core';
import { openAiPolicy } from '@toolenv/openai';
import { checkServer } from './check-server.ts';
import { type LlamaServer, startLlama, writeGguf } from './llama-server.ts';

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
