/** Noise on weights and on adapters: it is what addNoise makes, it goes away bit for bit, and it does not disturb training. */
import type { Rows, TokenBatch } from '@toolenv/core/learner';
import { expect, test } from 'vitest';
import type { LearnerOptions } from '../../src/learner/learner-options.ts';
import { addNoise } from '../../src/learner/weight-noise.ts';
import { createModel } from '../../src/model/model.ts';
import { parameterShapes } from '../../src/model/parameter-shapes.ts';
import { inTemporaryFolder, learnerOf, randomWeights, tinyConfig, tinyModel } from '../../test/tiny-model.ts';

const rows = [9, 17].map((length) => ({
  tokens: Int32Array.from({ length }, (_, t) => (7 * t) % tinyConfig.vocab_size),
  mask: new Uint8Array(length).fill(1, 1),
}));
const batch: TokenBatch = { rows };
const dLogprobs: Rows = rows.map(({ mask }) => Float32Array.from(mask, (bit) => -bit));
const noise = [
  { seed: 1, scale: 0.02 },
  { seed: 2, scale: -0.01 },
];
const kinds: [string, LearnerOptions][] = [
  ['weights', {}],
  ['an adapter', { lora: { rank: 3 } }],
];

test('a shift adds the noise that addNoise makes', async () => {
  const learner = learnerOf(tinyModel());
  await learner.shift(noise);
  const weights = await addNoise({}, randomWeights(tinyConfig, 1), parameterShapes(tinyConfig), noise);
  const other = learnerOf(createModel(tinyConfig, weights));
  expect((await learner.forward(batch)).logprobs).toEqual((await other.forward(batch)).logprobs);
});

test.each(kinds)(
  'noise on %s goes away bit for bit, and changes neither a step nor what is saved',
  async (_, options) => {
    const [calm, noisy] = [learnerOf(tinyModel(), options), learnerOf(tinyModel(), options)];
    const outputsOf = async (learner: typeof calm) => (await learner.forward(batch)).logprobs;
    // Half of a new adapter is 0, so that noise on the other half alone would change nothing.
    for (const learner of [calm, noisy]) await learner.shift(noise);
    const before = await outputsOf(calm);
    for (const each of noise) {
      await noisy.perturb(each);
      expect(await outputsOf(noisy)).not.toEqual(before);
    }
    await noisy.perturb();
    expect(await outputsOf(noisy)).toEqual(before);

    for (const learner of [calm, noisy]) await learner.backward(batch, { dLogprobs });
    await noisy.perturb(noise[0]);
    for (const learner of [calm, noisy]) await learner.step({ learningRate: 0.01 });
    const after = await outputsOf(calm);
    expect(after).not.toEqual(before);
    expect(await outputsOf(noisy)).toEqual(after);

    await inTemporaryFolder(async (folder) => {
      await noisy.perturb(noise[0]);
      await noisy.save(folder);
      await noisy.perturb(noise[1]);
      await noisy.load(folder);
    });
    expect(await outputsOf(noisy)).toEqual(after);
  },
);
