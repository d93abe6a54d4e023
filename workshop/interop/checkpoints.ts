/** The checkpoints to check: the demo's (or a random one if it is missing), and checkpoints after two updates of it. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { createRng } from '@toolenv/core';
import {
  initialWeights,
  type LoraOptions,
  loadPolicy,
  type ModelConfig,
  readCheckpoint,
  writeCheckpoint,
} from '@toolenv/policy';
import { buildTokenizer, tinyDesign } from '../tiny-policy/tokenizer.ts';

const shipped = join(import.meta.dirname, '../../packages/checkpoints/tiny');

export interface Opened {
  /** The folder that this library opens. */
  folder: string;
  /** For transformers: opens this base model with the adapter in `folder`, applied by peft. Default: opens `folder`. */
  base?: string;
}

/** Checkpoints by title. New folders are written to `scratch`. */
export async function checkpointsToCheck(scratch: string): Promise<Map<string, Opened>> {
  const start = existsSync(join(shipped, 'model.safetensors'))
    ? shipped
    : await writeRandom(join(scratch, 'random'));
  const trained = await train(start, join(scratch, 'trained'));
  const adapted = await train(start, join(scratch, 'adapted'), { rank: 4, alpha: 6 });
  const bfloat16 = await store(trained, 'bfloat16', join(scratch, 'bfloat16'));
  return new Map<string, Opened>([
    [start === shipped ? 'checkpoints/tiny' : 'random weights', { folder: start }],
    ['after two updates', { folder: trained }],
    ['an adapter, merged', { folder: adapted }],
    ['an adapter on its base', { folder: adapted, base: start }],
    ['stored as bfloat16', { folder: bfloat16 }],
    ['two updates of bfloat16', { folder: await train(bfloat16, join(scratch, 'trained-bfloat16')) }],
    ['stored as float16', { folder: await store(trained, 'float16', join(scratch, 'float16')) }],
  ]);
}

async function train(start: string, folder: string, lora?: LoraOptions): Promise<string> {
  await using policy = await loadPolicy(start, { learner: { lora } });
  const { learner, model } = policy;
  const rng = createRng(1, 'updates');
  const rows = Array.from({ length: 4 }, () => ({
    tokens: Int32Array.from({ length: 24 }, () => rng.int(model.config.vocab_size)),
    mask: new Uint8Array(24).fill(1, 8),
  }));
  for (let step = 0; step < 2; step++) {
    await learner.backward(
      { rows },
      { dLogprobs: rows.map(({ mask }) => Float32Array.from(mask, (bit) => -bit)) },
    );
    await learner.step({ learningRate: 1e-2, weightDecay: 0.01, maxGradNorm: 1 });
  }
  await policy.save(folder);
  return folder;
}

async function store(from: string, dtype: 'bfloat16' | 'float16', folder: string): Promise<string> {
  await writeCheckpoint(folder, await readCheckpoint(from), { dtype });
  return folder;
}

async function writeRandom(folder: string): Promise<string> {
  const { tokenizer, tokenizerConfig, vocabularySize, endOfTurn } = buildTokenizer(
    tinyDesign(['where', 'does', 'the', 'river', 'rise']),
  );
  const config: ModelConfig = {
    model_type: 'qwen2',
    vocab_size: vocabularySize,
    hidden_size: 64,
    intermediate_size: 96,
    num_hidden_layers: 2,
    num_attention_heads: 4,
    num_key_value_heads: 2,
    max_position_embeddings: 512,
    rms_norm_eps: 1e-6,
    rope_theta: 10_000,
    tie_word_embeddings: true,
  };
  const files = {
    'config.json': JSON.stringify({
      architectures: ['Qwen2ForCausalLM'],
      hidden_act: 'silu',
      ...config,
      eos_token_id: endOfTurn,
    }),
    'tokenizer.json': JSON.stringify(tokenizer),
    'tokenizer_config.json': JSON.stringify(tokenizerConfig),
  };
  await writeCheckpoint(folder, { files, weights: initialWeights(config, 1) });
  return folder;
}
