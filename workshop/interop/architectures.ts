/**
 * Random models that transformers wrote, of the architectures that differ most from Llama's: opened here, trained for twenty steps with LoRA,
 * saved, and opened by transformers and peft again.
 */
import { join } from 'node:path';
import { createRng, messageOf } from '@toolenv/core';
import type { TokenBatch } from '@toolenv/core/learner';
import {
  createModel,
  loadPolicy,
  onnxRuntime,
  readCheckpoint,
  type TransformerPolicy,
} from '@toolenv/policy';
import { AllLogits } from '../../packages/policy/test/all-logits.ts';
import { scratchFolder } from '../scratch-folder.ts';
import { check } from './check.ts';
import { jsonOf } from './programs.ts';
import { askTransformers, floatsOf, largestDifference } from './transformers-view.ts';

const tiny = join(import.meta.dirname, '../../packages/checkpoints/tiny');
const tolerance = 1e-4;
const steps = 20;

const size = {
  ...{ hidden_size: 32, intermediate_size: 48, num_hidden_layers: 4 },
  ...{ num_attention_heads: 4, num_key_value_heads: 2, max_position_embeddings: 512 },
};
const deltaNets = {
  ...{ ...size, head_dim: 16, linear_num_key_heads: 2, linear_num_value_heads: 4 },
  ...{ linear_key_head_dim: 16, linear_value_head_dim: 16 },
  rope_parameters: { rope_theta: 1e6, rope_type: 'default', partial_rotary_factor: 0.25 },
};
const vision = { hidden_size: 16, intermediate_size: 16 };

interface RandomModel {
  class: string;
  config: Record<string, unknown>;
}

const models: Record<string, RandomModel> = {
  'qwen3-moe': {
    class: 'Qwen3MoeConfig',
    config: {
      ...size,
      head_dim: 8,
      num_experts: 6,
      num_experts_per_tok: 2,
      moe_intermediate_size: 24,
      norm_topk_prob: true,
    },
  },
  olmoe: {
    class: 'OlmoeConfig',
    config: { ...size, num_experts: 6, num_experts_per_tok: 3 },
  },
  olmo3: { class: 'Olmo3Config', config: { ...size, sliding_window: 16 } },
  exaone4: {
    class: 'Exaone4Config',
    config: {
      ...size,
      sliding_window: 16,
      layer_types: ['sliding_attention', 'full_attention', 'sliding_attention', 'full_attention'],
    },
  },
  lfm2: {
    class: 'Lfm2Config',
    config: { ...size, block_multiple_of: 16, layer_types: ['conv', 'conv', 'full_attention', 'conv'] },
  },
  'qwen3.5': { class: 'Qwen3_5TextConfig', config: deltaNets },
  'qwen3.5 with images': {
    class: 'Qwen3_5Config',
    config: {
      text_config: deltaNets,
      vision_config: {
        ...vision,
        depth: 1,
        num_heads: 2,
        out_hidden_size: 32,
        patch_size: 4,
        num_position_embeddings: 16,
      },
    },
  },
  'gemma3 with images': {
    class: 'Gemma3Config',
    config: {
      text_config: { ...size, head_dim: 8, sliding_window: 16 },
      vision_config: {
        ...vision,
        num_hidden_layers: 1,
        num_attention_heads: 2,
        image_size: 28,
        patch_size: 14,
      },
      mm_tokens_per_image: 4,
    },
  },
};

export async function checkArchitectures(python: string): Promise<void> {
  await using scratch = await scratchFolder();
  const { config, endTokens } = await readCheckpoint(tiny);
  const { vocab_size: vocabulary } = config;
  const rng = createRng(1, 'sequences');
  const sequences = [5, 90].map((length) => Array.from({ length }, () => rng.int(vocabulary)));
  const script = join(import.meta.dirname, 'random_models.py');
  const request = { folder: scratch.path, tokenizer: tiny, vocabulary, end: endTokens[0], sequences, models };
  const theirs: Record<string, string[]> = await jsonOf(python, [script], request);
  for (const name of Object.keys(models)) {
    const folder = join(scratch.path, name);
    const opened = await loadPolicy(folder, { learner: { lora: { rank: 4 } } }).catch(messageOf);
    if (typeof opened === 'string') {
      check(false, `${name}: opens`, opened);
      continue;
    }
    await using policy = opened;
    await compare(`${name}: logits`, policy, sequences, theirs[name]!);
    const [first, last] = await train(policy);
    check(last > first + 1, `${name}: ${steps} steps with LoRA`, `log-probabilities ${first}, then ${last}`);
    const saved = join(scratch.path, `${name} trained`);
    await policy.save(saved);
    const ask = (more: object) =>
      askTransformers(python, { folder: saved, sequences, texts: [], conversations: [], ...more });
    await compare(`${name}: logits of the saved model`, policy, sequences, (await ask({})).logits);
    // peft needs the base model as transformers opens it without images.
    if (!name.endsWith('with images'))
      await compare(`${name}: logits of peft's`, policy, sequences, (await ask({ base: folder })).logits);
  }
}

/** The mean log-probability of some rows before and after the steps. */
async function train({ learner, model }: TransformerPolicy): Promise<[first: number, last: number]> {
  const rng = createRng(1, 'updates');
  const batch: TokenBatch = {
    rows: Array.from({ length: 4 }, () => ({
      tokens: Int32Array.from({ length: 80 }, () => rng.int(model.config.vocab_size)),
      mask: new Uint8Array(80).fill(1, 60),
    })),
  };
  const means: number[] = [];
  for (let step = 0; step <= steps; step++) {
    const dLogprobs = batch.rows.map(({ mask }) => Float32Array.from(mask, (bit) => -bit / 80));
    const { logprobs } = await learner.backward(batch, { dLogprobs });
    const values = logprobs.flatMap((row, b) => [...row].filter((_, t) => batch.rows[b]!.mask[t] === 1));
    means.push(values.reduce((sum, value) => sum + value, 0) / values.length);
    if (step < steps) await learner.step({ learningRate: 0.03, weightDecay: 0, maxGradNorm: 1 });
  }
  return [means[0]!, means.at(-1)!];
}

async function compare(
  title: string,
  { model: { config, weights } }: TransformerPolicy,
  sequences: readonly number[][],
  theirs: readonly string[],
): Promise<void> {
  const logits = new AllLogits(onnxRuntime(), createModel(config, weights));
  for (const [index, tokens] of sequences.entries()) {
    const ours = (await logits.of(tokens)).flatMap((row) => [...row]);
    const difference = largestDifference(ours, floatsOf(theirs[index]!));
    check(difference <= tolerance, `${title}, ${tokens.length} tokens`, `they differ by ${difference}`);
  }
}
