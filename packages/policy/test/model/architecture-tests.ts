/** Compares every architecture with transformers: logits, gradients and greedy tokens (golden/architectures/make-golden.py). */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readWeights } from '../../src/checkpoint/checkpoint.ts';
import { readSafetensors } from '../../src/checkpoint/safetensors.ts';
import { createModel, type Model } from '../../src/model/model.ts';
import { readModelConfig } from '../../src/model/read-model-config.ts';
import type { Runtime } from '../../src/runtime/runtime.ts';
import { Sampler } from '../../src/sampler/sampler.ts';
import { AllLogits, logProbabilityOf } from '../all-logits.ts';
import { expectAllClose } from '../expect-close.ts';
import { learnerOf, takeGradients } from '../tiny-model.ts';

interface Golden {
  tokens: number[][];
  /** [B][T], 0 for first tokens. The loss is Σ dLogprobs · log p. */
  dLogprobs: number[][];
  greedy: number[][];
}

const architectures = [
  'qwen2-untied',
  'qwen2-yarn',
  'qwen3',
  'qwen3-bias-yarn',
  'llama3',
  'llama-biases-linear',
  'smollm2',
  'mistral',
  'mistral-window',
  'qwen2-window',
  'qwen3-window',
  'granite',
  'smollm3',
  'smollm3-window',
  'olmo2',
  'gemma3',
  'phi3',
  'phi3-window',
  'cohere2',
  'cohere2-bias-yarn',
  'smollm3-yarn',
  'olmo3',
  'olmo3-yarn',
  'exaone4',
  'exaone4-window',
  'phi4-mini',
  'qwen3-moe',
  'qwen3-moe-dense-layers',
  'olmoe',
  'lfm2',
  'qwen3.5',
];

/** @param open Gives the runtime once tests run. */
export function testArchitectures(open: () => Runtime): void {
  describe.each(architectures)('%s', (name) => {
    const folder = join(import.meta.dirname, '../golden/architectures', name);
    const golden: Golden = readJson('golden.json');

    test('logits equal those of transformers', async () => {
      const all = new AllLogits(open(), await openModel());
      const { tensors: expected } = await readSafetensors(join(folder, 'logits.safetensors'));
      for (const [row, tokens] of golden.tokens.entries()) {
        const found = (await all.of(tokens)).flatMap((logits) => [...logits]);
        expectAllClose(found, expected[row]!.data, 1e-4);
      }
    });

    test.each(["every parameter's gradient equals PyTorch's", 'so do gradients of checkpointed layers'])(
      '%s',
      async (title) => {
        const learner = learnerOf(
          await openModel(),
          { gradientCheckpointing: title.includes('checkpointed') },
          open(),
        );
        const rows = golden.tokens.map((tokens) => ({
          tokens: Int32Array.from(tokens),
          mask: Uint8Array.from(tokens, (_, position) => Number(position > 0)),
        }));
        await learner.backward(
          { rows },
          { dLogprobs: golden.dLogprobs.map((row) => Float32Array.from(row)) },
        );
        const found = await takeGradients(learner);
        const { tensors: expected } = await readSafetensors(join(folder, 'gradients.safetensors'));
        expect(Object.keys(found).sort()).toEqual(Object.keys(expected).sort());
        for (const [parameter, { data, dims }] of Object.entries(expected)) {
          expect(found[parameter]!.dims, parameter).toEqual(dims);
          expectAllClose(found[parameter]!.data, data, 1e-4 * Math.max(...data.map(Math.abs)), parameter);
        }
      },
    );

    test('greedy tokens equal those of transformers', async () => {
      const sampler = new Sampler(open(), await openModel());
      const sampled = await Promise.all(
        golden.tokens.map((tokens, seed) =>
          sampler.sample({
            prompt: Int32Array.from(tokens),
            maxTokens: 20,
            temperature: 0,
            seed,
            stopTokens: [],
          }),
        ),
      );
      expect(sampled.map(({ tokens }) => [...tokens])).toEqual(golden.greedy);
      await sampler.close();
    });

    test('log-probabilities of a second turn, on the cache of the first, equal those of the whole sequence', async () => {
      const model = await openModel();
      const sampler = new Sampler(open(), model);
      const all = new AllLogits(open(), model);
      const conversation = [...golden.tokens[0]!.slice(0, 12)];
      for (const heard of [[], golden.tokens[0]!.slice(12, 21)]) {
        conversation.push(...heard);
        const { tokens, logprobs } = await sampler.sample({
          prompt: Int32Array.from(conversation),
          maxTokens: 5,
          temperature: 1,
          seed: 3,
          stopTokens: [],
          episodeId: 'two turns',
        });
        conversation.push(...tokens);
        const logits = await all.of(conversation);
        const expected = [...tokens].map((token, i) =>
          logProbabilityOf(logits[conversation.length - tokens.length + i - 1]!, token),
        );
        expectAllClose(logprobs, expected, 1e-4);
      }
      await sampler.close();
    });

    async function openModel(): Promise<Model> {
      const config = readModelConfig('config.json', readJson('config.json'));
      return createModel(config, (await readWeights(folder, config)).weights);
    }

    function readJson(file: string) {
      return JSON.parse(readFileSync(join(folder, file), 'utf8'));
    }
  });
}
