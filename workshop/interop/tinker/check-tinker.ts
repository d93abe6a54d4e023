/**
 * `npm run interop -- tinker`: samples and trains on SkyRL's Tinker server, with JAX on the CPU, over random models in the tiny
 * policy's shape. The gradient norms that our losses have there are compared with the server's own and with the local learner's.
 */
import { join } from 'node:path';
import { scratchFolder } from '../../scratch-folder.ts';
import { checkNorms, checkTrainedAdapter } from './gradient-norms.ts';
import { type SkyRlServer, startSkyRl, writeModel } from './skyrl-server.ts';
import { checkRun, checkSampling } from './training-runs.ts';

/** @param python Has the packages of tinker.txt. */
export async function checkTinker(python: string): Promise<void> {
  await using scratch = await scratchFolder();
  let server: SkyRlServer | undefined;
  const start = async (kind: 'qwen3' | 'llama') => {
    const model = join(scratch.path, kind);
    await writeModel(python, kind, join(import.meta.dirname, '../../../packages/checkpoints/tiny'), model);
    server = await startSkyRl(python, model, join(scratch.path, `${kind}-server`));
    return server;
  };
  try {
    const qwen3 = await start('qwen3');
    await checkNorms(python, qwen3, scratch.path);
    await checkSampling(qwen3);
    await checkRun(qwen3, scratch.path);
    await qwen3.kill();
    await checkTrainedAdapter(python, await start('llama'), scratch.path);
  } finally {
    await server?.kill();
  }
}
