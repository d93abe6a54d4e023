/**
 * Whether the bits of a sample are the same in any batch on this machine. That depends on how a library's products add on the processor at
 * hand, so it is tried: a conversation of a small random model is sampled alone, and among others.
 */
import { createRng } from '@toolenv/core';
import { createModel, type Model } from '../model/model.ts';
import type { ModelConfig } from '../model/model-config.ts';
import { parameterShapes } from '../model/parameter-shapes.ts';
import { getOrInsert } from '../runtime/get-or-insert.ts';
import { type Runtime, type Tensors, tensor } from '../runtime/runtime.ts';
import { sizeOf } from '../runtime/shape.ts';
import { CachedDecoder, type DecoderOptions } from './cached-decoder.ts';

const tried: WeakMap<Runtime, Map<DecoderOptions['precision'], Promise<boolean>>> = new WeakMap();

/** Takes some 50 ms, once for each runtime and precision. */
export function isBatchInvariant(runtime: Runtime, { precision }: DecoderOptions): Promise<boolean> {
  const ofRuntime = getOrInsert(
    tried,
    runtime,
    () => new Map<DecoderOptions['precision'], Promise<boolean>>(),
  );
  return getOrInsert(ofRuntime, precision, async () => {
    const decoder = new CachedDecoder(runtime, randomModel(), { precision });
    const alone = await sampled(decoder, 1);
    const among = await sampled(decoder, 9);
    await decoder.close();
    return alone === among;
  });
}

// Products are wide enough to be divided into blocks and among threads.
const config: ModelConfig = {
  model_type: 'llama',
  vocab_size: 256,
  hidden_size: 128,
  intermediate_size: 384,
  num_hidden_layers: 1,
  num_attention_heads: 4,
  num_key_value_heads: 2,
  max_position_embeddings: 512,
  rms_norm_eps: 1e-6,
  rope_theta: 10_000,
  tie_word_embeddings: true,
};

function randomModel(): Model {
  const weights: Tensors = {};
  for (const [name, shape] of parameterShapes(config)) {
    const rng = createRng(1, name);
    weights[name] = tensor(
      Float32Array.from({ length: sizeOf(shape) }, () => rng.float() - 0.5),
      shape,
    );
  }
  return createModel(config, weights);
}

/** The tokens and log-probabilities of the first of `count` conversations, of which the others have longer prompts. */
async function sampled(decoder: CachedDecoder, count: number): Promise<string> {
  const rng = createRng(2, 'prompts');
  const found: number[] = [];
  let prompts = Array.from({ length: count }, (_, slot) =>
    Int32Array.from({ length: slot === 0 ? 60 : 128 }, () => rng.int(config.vocab_size)),
  );
  for (const slot of prompts.keys()) decoder.begin(slot, { temperature: 1, seed: slot });
  for (let step = 0; step < 12; step++) {
    const drawn = await decoder.advance(
      prompts.map((tokens, slot) => ({ slot, tokens, copies: [], draws: true })),
    );
    const bySlot = drawn.toSorted((a, b) => a.slot - b.slot);
    found.push(bySlot[0]!.token, bySlot[0]!.logprob);
    // At each second step, the others continue with many tokens.
    prompts = bySlot.map(({ slot, token }) =>
      new Int32Array(slot === 0 || step % 2 === 1 ? 1 : 40).fill(token),
    );
  }
  decoder.clear();
  return String(found);
}
