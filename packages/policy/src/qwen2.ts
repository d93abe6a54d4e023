/** Qwen2 (arXiv 2407.10671) over Ops: RMSNorm, rotary positions, grouped-query attention with bias, SwiGLU. */
import type { Dim, Ops } from './ops.ts';

/** The fields of a Hugging Face config.json that shape the computation. */
export interface Qwen2Config {
  vocab_size: number;
  hidden_size: number;
  intermediate_size: number;
  num_hidden_layers: number;
  num_attention_heads: number;
  num_key_value_heads: number;
  max_position_embeddings: number;
  rms_norm_eps: number;
  rope_theta: number;
  tie_word_embeddings: boolean;
}

/** Parameter names as in Hugging Face checkpoints, with their shapes. */
export function parameterShapes(config: Qwen2Config): Map<string, readonly number[]> {
  const { hidden_size: width, intermediate_size: inner, vocab_size: vocabulary } = config;
  const keyValueWidth = headWidth(config) * config.num_key_value_heads;
  const shapes = new Map<string, readonly number[]>([['model.embed_tokens.weight', [vocabulary, width]]]);
  for (let layer = 0; layer < config.num_hidden_layers; layer++) {
    const prefix = `model.layers.${layer}.`;
    shapes.set(`${prefix}input_layernorm.weight`, [width]);
    for (const [name, out] of [
      ['q', width],
      ['k', keyValueWidth],
      ['v', keyValueWidth],
    ] as const) {
      shapes.set(`${prefix}self_attn.${name}_proj.weight`, [out, width]);
      shapes.set(`${prefix}self_attn.${name}_proj.bias`, [out]);
    }
    shapes.set(`${prefix}self_attn.o_proj.weight`, [width, width]);
    shapes.set(`${prefix}post_attention_layernorm.weight`, [width]);
    shapes.set(`${prefix}mlp.gate_proj.weight`, [inner, width]);
    shapes.set(`${prefix}mlp.up_proj.weight`, [inner, width]);
    shapes.set(`${prefix}mlp.down_proj.weight`, [width, inner]);
  }
  shapes.set('model.norm.weight', [width]);
  if (!config.tie_word_embeddings) shapes.set('lm_head.weight', [vocabulary, width]);
  return shapes;
}

export function headWidth(config: Qwen2Config): number {
  return config.hidden_size / config.num_attention_heads;
}

/** The rotary tables [max_position_embeddings, head width / 2]: cos and sin of position · theta^(−2i / head width). */
export function rotaryTables(config: Qwen2Config): {
  cos: Float32Array;
  sin: Float32Array;
  dims: [number, number];
} {
  const half = headWidth(config) / 2;
  const dims: [number, number] = [config.max_position_embeddings, half];
  const cos = new Float32Array(dims[0] * half);
  const sin = new Float32Array(dims[0] * half);
  for (let position = 0; position < dims[0]; position++) {
    for (let i = 0; i < half; i++) {
      // Hugging Face computes the frequency and the angle in float32.
      const frequency = Math.fround(1 / Math.fround(config.rope_theta ** (i / half)));
      const angle = Math.fround(position * frequency);
      cos[position * half + i] = Math.cos(angle);
      sin[position * half + i] = Math.sin(angle);
    }
  }
  return { cos, sin, dims };
}

/**
 * How queries meet keys and values: queries [B, heads, T, D] after rotation, keys and values [B, key-value heads, T, D]
 * → [B, heads, T, D]. Training attends within the batch, sampling to a cache as well.
 */
export type Attention<T> = (layer: number, queries: T, keys: T, values: T) => T;

/** Hidden states [B·T, width] after the last norm, for int32 `tokens` and `positions` [B, T]. */
export function qwen2<T>(
  ops: Ops<T>,
  config: Qwen2Config,
  tokens: T,
  positions: T,
  attention: Attention<T>,
): T {
  const { hidden_size: width, num_attention_heads: heads, num_key_value_heads: keyValueHeads } = config;
  const weight = parameters(ops, config);
  const table: readonly Dim[] = [config.max_position_embeddings, headWidth(config) / 2];
  const cos = ops.input('rotary.cos', 'float32', table);
  const sin = ops.input('rotary.sin', 'float32', table);
  const [batch, time] = ops.shapeOf(tokens) as [Dim, Dim];
  const split = (x: T, count: number) =>
    ops.transpose(ops.reshape(x, [batch, time, count, headWidth(config)]), [0, 2, 1, 3]);

  let hidden = ops.reshape(ops.gatherRows(weight('model.embed_tokens.weight'), tokens), ['N', width]);
  for (let layer = 0; layer < config.num_hidden_layers; layer++) {
    const at = (name: string) => weight(`model.layers.${layer}.${name}`);
    const project = (x: T, name: string) =>
      ops.linear(x, at(`self_attn.${name}_proj.weight`), at(`self_attn.${name}_proj.bias`));

    const normed = ops.rmsNorm(hidden, at('input_layernorm.weight'), config.rms_norm_eps);
    const queries = ops.rotary(split(project(normed, 'q'), heads), positions, cos, sin);
    const keys = ops.rotary(split(project(normed, 'k'), keyValueHeads), positions, cos, sin);
    const values = split(project(normed, 'v'), keyValueHeads);
    const mixed = ops.transpose(attention(layer, queries, keys, values), [0, 2, 1, 3]);
    hidden = ops.add(hidden, ops.linear(ops.reshape(mixed, ['N', width]), at('self_attn.o_proj.weight')));

    const inner = ops.rmsNorm(hidden, at('post_attention_layernorm.weight'), config.rms_norm_eps);
    const gate = ops.silu(ops.linear(inner, at('mlp.gate_proj.weight')));
    const up = ops.linear(inner, at('mlp.up_proj.weight'));
    hidden = ops.add(hidden, ops.linear(ops.mul(gate, up), at('mlp.down_proj.weight')));
  }
  return ops.rmsNorm(hidden, weight('model.norm.weight'), config.rms_norm_eps);
}

/** Logits [M, vocabulary] of hidden states [M, width]. */
export function logits<T>(ops: Ops<T>, config: Qwen2Config, hidden: T): T {
  const head = config.tie_word_embeddings ? 'model.embed_tokens.weight' : 'lm_head.weight';
  return ops.linear(hidden, parameters(ops, config)(head));
}

/** The length of a padded batch must be a multiple of this. */
export const attentionBlocks = 4;

/**
 * Causal attention within one padded batch: `mask` [T, T] is added to the scores. Queries go in blocks, each to the keys up
 * to its own end: three eighths of the scores, which the mask would cancel, are never computed.
 */
export function selfAttention<T>(ops: Ops<T>, config: Qwen2Config, mask: T): Attention<T> {
  const groupSize = config.num_attention_heads / config.num_key_value_heads;
  const scale = 1 / Math.sqrt(headWidth(config));
  const upTo = (whole: T, blocks: readonly T[], index: number, axis: number) =>
    index === blocks.length - 1 ? whole : ops.concat(blocks.slice(0, index + 1), axis);
  const masks = ops.split(mask, 0, attentionBlocks).map((rows, index) => {
    const seen = upTo(rows, ops.split(rows, 1, attentionBlocks), index, 1);
    return ops.concat(Array(groupSize).fill(seen), 0);
  });
  return (_layer, queries, keys, values) => {
    const keyBlocks = ops.split(keys, 2, attentionBlocks);
    const valueBlocks = ops.split(values, 2, attentionBlocks);
    const mixed = ops.split(queries, 2, attentionBlocks).map((block, index) => {
      const seenKeys = upTo(keys, keyBlocks, index, 2);
      const seenValues = upTo(values, valueBlocks, index, 2);
      const grouped = groupQueries(ops, config, block);
      return ops.reshape(
        ops.attention(grouped, seenKeys, seenValues, masks[index]!, scale),
        ops.shapeOf(block),
      );
    });
    return ops.concat(mixed, 2);
  };
}

/** [B, heads, T, D] → [B, key-value heads, heads per key-value head · T, D], so that keys need no repeating. */
export function groupQueries<T>(ops: Ops<T>, config: Qwen2Config, queries: T): T {
  const [batch, heads, time, size] = ops.shapeOf(queries) as [Dim, number, Dim, number];
  const groupSize = heads / config.num_key_value_heads;
  const merged = typeof time === 'number' ? groupSize * time : groupedTime(time, groupSize);
  return ops.reshape(queries, [batch, config.num_key_value_heads, merged, size]);
}

/** The name under which {@link Ops.concat} knows `groupSize` masks of `time` rows. */
function groupedTime(time: string, groupSize: number): Dim {
  return groupSize === 1 ? time : Array.from({ length: groupSize }, () => time).join('+');
}

function parameters<T>(ops: Ops<T>, config: Qwen2Config): (name: string) => T {
  const shapes = parameterShapes(config);
  return (name) => ops.input(name, 'float32', shapes.get(name)!);
}
