/**
 * `npm run interop -- tinker`: samples and trains on SkyRL's Tinker server, with JAX on the CPU, over a random Qwen3 in the tiny
 * policy's shape. The gradient norms that our losses have there are compared with the server's own and with the local learner's.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkNorms } from './gradient-norms.ts';
import { type SkyRlServer, startSkyRl, writeQwen3 } from './skyrl-server.ts';
import { checkRun, checkSampling } from './training-runs.ts';

type Check = (passed: boolean, title: string, otherwise: string) => void;

/** @param python Has the packages of tinker.txt. */
export async function checkTinker(python: string, check: Check): Promise<void> {
  const scratch = await mkdtemp(join(tmpdir(), 'toolenv-tinker-'));
  const model = join(scratch, 'qwen3');
  let server: SkyRlServer | undefined;
  try {
    await writeQwen3(python, join(import.meta.dirname, '../../tiny-policy/checkpoint'), model);
    server = await startSkyRl(python, model, join(scratch, 'server'));
    await checkNorms(python, server, scratch, check);
    await checkSampling(server, check);
    await checkRun(server, scratch, check);
  } finally {
    await server?.kill();
    await rm(scratch, { recursive: true, force: true });
  }
}
