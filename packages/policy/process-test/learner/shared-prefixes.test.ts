/** Rows that share prefixes, computed as one tree, give the outputs and gradients of each row alone. */
import { createRng } from '@toolenv/core';
import type { TokenGradients, TokenOutputs, TokenRow } from '@toolenv/core/learner';
import { expect, test } from 'vitest';
import type { LearnerOptions } from '../../src/learner/learner-options.ts';
import { attentionLength, foldRows, hasBranches } from '../../src/learner/prefix-tree.ts';
import { createModel } from '../../src/model/model.ts';
import type { ModelConfig } from '../../src/model/model-config.ts';
import type { Runtime } from '../../src/runtime/runtime.ts';
import { tfjsRuntime } from '../../src/runtime/tfjs/tfjs-runtime.ts';
import { expectAllClose } from '../../test/expect-close.ts';
import {
  learnerOf,
  otherLayers,
  randomWeights,
  runtime,
  takeGradients,
  tinyConfig,
} from '../../test/tiny-model.ts';

const rng = createRng(1, 'rows');
const words = (length: number) => Array.from({ length }, () => rng.int(tinyConfig.vocab_size));

/** Two groups whose episodes branch in the middle of a turn and after a turn; one episode is played three times. */
function groups(): TokenRow[] {
  const system = words(3);
  return [0, 1].flatMap(() => {
    const prompt = [...system, ...words(4)];
    const turn = words(5);
    const tails = [
      [...turn, ...words(3)],
      [...turn, ...words(6)],
      [...turn.slice(0, 2), ...words(4)],
      words(7),
    ];
    const played = [...tails, tails[1]!, tails[1]!].map((tail) => [...prompt, ...tail]);
    return played.map((tokens) => ({
      tokens: Int32Array.from(tokens),
      mask: Uint8Array.from(tokens, (_, t) => Number(t >= prompt.length && t !== prompt.length + 1)),
    }));
  });
}

const rows = groups();
const slopes = () => rows.map(({ tokens }) => Float32Array.from(tokens, () => rng.float() - 0.5));
const given: Required<TokenGradients> = { dLogprobs: slopes(), dEntropy: slopes(), dValues: slopes() };

test('the rows are folded', () => {
  const trees = foldRows(rows, { attentionLength: attentionLength(tinyConfig) });
  const nodes = trees.reduce((sum, { tokens }) => sum + tokens.length, 0);
  expect(trees.some(hasBranches)).toBe(true);
  expect(nodes).toBeLessThan(0.6 * rows.reduce((sum, { tokens }) => sum + tokens.length, 0));
});

type Case = [
  title: string,
  options: LearnerOptions,
  critic: 'shared' | 'separate',
  on: Runtime,
  model?: Partial<ModelConfig>,
];
const windows = {
  model_type: 'gemma3_text',
  sliding_window: 4,
  sliding_window_pattern: 2,
  rope_local_base_freq: 100,
} as const;
const cases: Case[] = [
  ['all weights, a shared critic', {}, 'shared', runtime],
  ['an adapter, a separate critic', { lora: { rank: 3 } }, 'separate', runtime],
  ['checkpointed layers', { gradientCheckpointing: true }, 'shared', runtime],
  ['a checkpointed adapter', { gradientCheckpointing: true, lora: { rank: 3 } }, 'separate', runtime],
  ['windows', {}, 'shared', runtime, windows],
  ['trees longer than the context', {}, 'shared', runtime, { max_position_embeddings: 18 }],
  [
    'checkpointed layers with and without windows',
    { gradientCheckpointing: true },
    'shared',
    runtime,
    windows,
  ],
  ...Object.entries(otherLayers).flatMap(([title, fields]): Case[] => [
    [title, {}, 'shared', runtime, fields],
    [
      `an adapter of ${title}`,
      { gradientCheckpointing: true, lora: { rank: 3 } },
      'separate',
      runtime,
      fields,
    ],
  ]),
  ['TensorFlow.js', {}, 'shared', await tfjsRuntime({ backend: 'wasm' })],
];

test.each(cases)('%s', async (_title, options, critic, on, model = {}) => {
  const config = { ...tinyConfig, ...model };
  // A memory adds up what all positions have written.
  const tolerance = 'linear_num_key_heads' in model ? 1e-4 : 1e-5;
  const learner = learnerOf(createModel(config, randomWeights(config, 2)), options, on);
  await learner.addCritic({ critic });
  const all = [...rows.keys()];
  const learn = async (batches: number[][]) => {
    const found: TokenOutputs[] = [];
    for (const batch of batches) {
      const pick = <Value>(values: readonly Value[]) => batch.map((b) => values[b]!);
      const { dLogprobs, dEntropy, dValues } = given;
      const picked = { dLogprobs: pick(dLogprobs), dEntropy: pick(dEntropy), dValues: pick(dValues) };
      const outputs = await learner.forward({ rows: pick(rows), temperature: 0.7 });
      found.push(outputs);
      const seen = await learner.backward({ rows: pick(rows), temperature: 0.7 }, picked);
      for (const [b, row] of seen.logprobs.entries()) expectAllClose(row, outputs.logprobs[b]!, tolerance);
    }
    const flat = (name: 'logprobs' | 'entropy' | 'values') =>
      found.flatMap((outputs) => outputs[name]!).flatMap((row) => [...row]);
    return { logprobs: flat('logprobs'), entropy: flat('entropy'), values: flat('values') };
  };
  // A step makes the adapter's B and the critic's head nonzero, so that gradients pass through them.
  await learn([all]);
  await learner.step({ learningRate: 0.02 });

  const together = await learn([all]);
  const gradients = await takeGradients(learner);
  const apart = await learn(all.map((b) => [b]));
  const expected = await takeGradients(learner);
  for (const name of ['logprobs', 'entropy', 'values'] as const)
    expectAllClose(together[name], apart[name], tolerance, name);
  expect(Object.keys(gradients)).toEqual(Object.keys(expected));
  for (const [name, { data }] of Object.entries(expected)) {
    const largest = Math.max(...data.map(Math.abs));
    expect(largest, name).toBeGreaterThan(0);
    expectAllClose(gradients[name]!.data, data, tolerance * largest, name);
  }
  await learner.close();
});
