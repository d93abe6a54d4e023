/** Models are saved in the precision in which they were read, and runs resume with their exact weights. */
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createRng } from '@toolenv/core';
import { expect, test } from 'vitest';
import { readCheckpoint, writeCheckpoint } from '../../src/checkpoint/checkpoint.ts';
import { readSafetensors, type StoredType, writeSafetensors } from '../../src/checkpoint/safetensors.ts';
import type { LearnerOptions } from '../../src/learner/learner-options.ts';
import { createPolicy, loadPolicy, type TransformerPolicy } from '../../src/transformer-policy.ts';
import { expectSame } from '../expect-same.ts';
import { inTemporaryFolder, runtime } from '../tiny-model.ts';
import { wordCheckpoint } from '../word-checkpoint.ts';

const modelFile = 'model.safetensors';

/** Writes a checkpoint in two shards. Norms are stored in float32, the other weights as `type`. */
async function writeShards(folder: string, type: StoredType): Promise<void> {
  const { weights, files } = wordCheckpoint();
  await writeCheckpoint(folder, { weights, files }, { dtype: type });
  await rm(join(folder, modelFile));
  const entries = Object.entries(weights);
  const map: Record<string, string> = {};
  for (const [index, part] of [entries.slice(0, 9), entries.slice(9)].entries()) {
    const file = `model-0000${index + 1}-of-00002.safetensors`;
    const types = part.map(([name]) => [name, name.includes('norm') ? 'float32' : type] as const);
    await writeSafetensors(join(folder, file), Object.fromEntries(part), {}, Object.fromEntries(types));
    for (const [name] of part) map[name] = file;
  }
  await writeFile(join(folder, 'model.safetensors.index.json'), JSON.stringify({ weight_map: map }));
}

async function dtypeOf(folder: string): Promise<string | undefined> {
  return JSON.parse(await readFile(join(folder, 'config.json'), 'utf8')).torch_dtype;
}

const rng = createRng(1, 'row');
const tokens = Int32Array.from({ length: 12 }, () => rng.int(250));
const rows = [{ tokens, mask: Uint8Array.from(tokens, (_, position) => Number(position > 3)) }];

async function train({ learner }: TransformerPolicy, steps: number): Promise<void> {
  for (let step = 0; step < steps; step++) {
    await learner.backward({ rows }, { dLogprobs: [Float32Array.from(tokens, () => -1)] });
    await learner.step({ learningRate: 1e-3 });
  }
}

test.each(['bfloat16', 'float16', 'float32'] as const)(
  'shards in %s are saved as they were read',
  async (type) => {
    await inTemporaryFolder(async (folder) => {
      await writeShards(folder, type);
      const read = await readCheckpoint(folder);
      await using policy = await createPolicy(read, { runtime });
      const saved = join(folder, 'saved');
      await policy.save(saved);
      const { tensors, types } = await readSafetensors(join(saved, modelFile));
      expectSame(tensors, read.weights);
      expect(types).toEqual(read.types);
      expect(types['model.layers.0.mlp.up_proj.weight']).toBe(type);
      expect(types['model.norm.weight']).toBe('float32');
      // With weights of two types, config.json stays as it was.
      expect(await dtypeOf(saved)).toBe(type === 'float32' ? undefined : type);
    });
  },
);

test.each<[StoredType, LearnerOptions]>([
  ['bfloat16', {}],
  ['float16', {}],
  ['bfloat16', { lora: { rank: 2 } }],
])('a run from %s with %j resumes bit by bit, and its model is rounded', async (type, learner) => {
  await inTemporaryFolder(async (folder) => {
    await writeShards(folder, type);
    const saved = join(folder, 'saved');
    await using policy = await loadPolicy(folder, { runtime, learner });
    await train(policy, 2);
    await policy.learner.save(saved);
    await policy.learner.completeExport(saved);
    const exact = structuredClone(policy.model.weights);
    const { tensors, types } = await readSafetensors(join(saved, modelFile));
    const name = 'model.layers.1.mlp.up_proj.weight';
    expect([types[name], types['model.norm.weight']]).toEqual([type, 'float32']);
    const apart = tensors[name]!.data.map((value, i) => Math.abs(value / exact[name]!.data[i]! - 1));
    const rounding = type === 'bfloat16' ? 2 ** -8 : 2 ** -11;
    expect(Math.max(...apart)).toBeGreaterThan(rounding / 4);
    expect(Math.max(...apart)).toBeLessThanOrEqual(rounding);

    await using resumed = await loadPolicy(folder, { runtime, learner });
    await resumed.learner.load(saved);
    expectSame(resumed.model.weights, exact);
    await train(policy, 2);
    await train(resumed, 2);
    expectSame(resumed.model.weights, policy.model.weights);

    // Other processes sample from what they are given, so it is exact.
    await policy.learner.export(join(folder, 'exported'));
    const exported = await readSafetensors(join(folder, 'exported', modelFile));
    expectSame(exported.tensors, policy.model.weights);
  });
});

test('weights that are too large for float16 are saved in float32', async () => {
  await inTemporaryFolder(async (folder) => {
    const { weights, files } = wordCheckpoint();
    const name = 'model.norm.weight';
    (weights[name]!.data as Float32Array)[3] = 65_521;
    const types = await writeCheckpoint(folder, { weights, files }, { dtype: 'float16' });
    expect(Object.keys(types).filter((each) => types[each] !== 'float16')).toEqual([name]);
    expect((await readCheckpoint(folder)).weights[name]).toEqual(weights[name]);
  });
});
