/** Adapters of a whole checkpoint: damaged pairs of matrices and configurations, opened as policies. */
import { join } from 'node:path';
import { writeCheckpoint } from '@toolenv/policy';
import { partOf, writeAdapter } from '../../../packages/policy/src/checkpoint/adapter.ts';
import { tensor } from '../../../packages/policy/src/runtime/runtime.ts';
import { mutateCheckpoint } from '../../../packages/policy/test/fuzz/mutated-checkpoint.ts';
import { wordCheckpoint } from '../../../packages/policy/test/word-checkpoint.ts';
import { checkpoints } from './checkpoints.ts';
import type { Subject } from './subject.ts';

const base = wordCheckpoint();
const matrix = 'model.layers.0.self_attn.q_proj.weight';
const [out, into] = base.weights[matrix]!.dims as readonly [number, number];
const pair = {
  [partOf(matrix, 'a')]: tensor(new Float32Array(2 * into).fill(0.1), [2, into]),
  [partOf(matrix, 'b')]: tensor(new Float32Array(out * 2).fill(0.1), [out, 2]),
};

export const adapters: Subject = {
  async damage(rng, folder) {
    const whole = join(folder, 'base');
    await writeCheckpoint(whole, base);
    const adapter = join(folder, 'adapter');
    await writeAdapter(adapter, pair, { base_model_name_or_path: whole, r: 2, lora_alpha: 4 });
    return mutateCheckpoint(adapter, rng);
  },
  use: (folder) => checkpoints.use(join(folder, 'adapter')),
};
