/**
 * The decoder of Llama (arXiv 2302.13971) and its relatives over Ops: RMSNorm, rotary positions, grouped-query attention,
 * SwiGLU. Qwen2 (arXiv 2407.10671) adds biases; Qwen3 (arXiv 2505.09388) normalises queries and keys.
 */
import type { Dim, Ops } from '../runtime/ops.ts';
import { headWidth, type ModelConfig } from './model-config.ts';

/** Parameter names as in Hugging Face checkpoints, with their shapes. The differences between architectures are defined here. */
export function parameterShapes(config: ModelConfig): Map<string, readonly number[]> {
  const { hidden_size: width, intermediate_size: inner, vocab_size: vocabulary, model_type: type } = config;
  const queryWidth = headWidth(config) * config.num_attention_heads;
  const keyValueWidth = headWidth(config) * config.num_key_value_heads;
  const attentionBias = config.attention_bias === true && (type === 'llama' || type === 'qwen3');
  const mlpBias = config.mlp_bias === true && type === 'llama';
  const shapes = new Map<string, readonly number[]>([['model.embed_tokens.weight', [vocabulary, width]]]);
  const addLinear = (name: string, to: number, from: number, bias: boolean) => {
    shapes.set(`${name}.weight`, [to, from]);
    if (bias) shapes.set(`${name}.bias`, [to]);
  };
  for (let layer = 0; layer < config.num_hidden_layers; layer++) {
    const prefix = `model.layers.${layer}.`;
    shapes.set(`${prefix}input_layernorm.weight`, [width]);
    addLinear(`${prefix}self_attn.q_proj`, queryWidth, width, attentionBias || type === 'qwen2');
    addLinear(`${prefix}self_attn.k_proj`, keyValueWidth, width, attentionBias || type === 'qwen2');
    addLinear(`${prefix}self_attn.v_proj`, keyValueWidth, width, attentionBias || type === 'qwen2');
    if (type === 'qwen3') {
      shapes.set(`${prefix}self_attn.q_norm.weight`, [headWidth(config)]);
      shapes.set(`${prefix}self_attn.k_norm.weight`, [headWidth(config)]);
    }
    addLinear(`${prefix}self_attn.o_proj`, width, queryWidth, attentionBias);
    shapes.set(`${prefix}post_attention_layernorm.weight`, [width]);
    addLinear(`${prefix}mlp.gate_proj`, inner, width, mlpBias);
    addLinear(`${prefix}mlp.up_proj`, inner, width, mlpBias);
    addLinear(`${prefix}mlp.down_proj`, width, inner, mlpBias);
  }
  shapes.set('model.norm.weight', [width]);
  if (!config.tie_word_embeddings) shapes.set('lm_head.weight', [vocabulary, width]);
  return shapes;
}

/**
 * Attention of rotated queries [B, heads, T, D] over keys and values [B, key-value heads, T, D] → [B, heads, T, D].
 * Training attends within the batch; sampling attends to a cache as well.
 */
export type Attention<T> = (layer: number, queries: T, keys: T, values: T) => T;

/** An adapter's addition to the output of the linear map `name` for input `x`; `undefined` if the map is not adapted. */
export type LowRank<T> = (x: T, name: string) => T | undefined;

/** Hidden states [B·T, width] after the last norm, for int32 `tokens` and `positions` [B, T]. `lowRank` adapts linear maps. */
export function decoder<T>(
  ops: Ops<T>,
  config: ModelConfig,
  tokens: T,
  positions: T,
  attention: Attention<T>,
  lowRank?: LowRank<T>,
): T {
  let hidden = embed(ops, config, tokens);
  for (let layer = 0; layer < config.num_hidden_layers; layer++)
    hidden = decoderLayer(ops, config, layer, hidden, positions, attention, lowRank);
  return finalNorm(ops, config, hidden);
}

/** The embeddings [N, width] of int32 `tokens` [B, T], where N = B·T. */
export function embed<T>(ops: Ops<T>, config: ModelConfig, tokens: T): T {
  const { weight } = parameters(ops, config);
  return ops.reshape(ops.gatherRows(weight('model.embed_tokens.weight'), tokens), ['N', config.hidden_size]);
}

/** One layer: hidden states [N, width] → [N, width]. */
export function decoderLayer<T>(
  ops: Ops<T>,
  config: ModelConfig,
  layer: number,
  before: T,
  positions: T,
  attention: Attention<T>,
  lowRank?: LowRank<T>,
): T {
  const { num_attention_heads: heads, num_key_value_heads: keyValueHeads } = config;
  const { linear, norm, has } = parameters(ops, config, lowRank);
  const at = `model.layers.${layer}`;
  const size = headWidth(config);
  const table: readonly Dim[] = [config.max_position_embeddings, size / 2];
  const cos = ops.input('rotary.cos', 'float32', table);
  const sin = ops.input('rotary.sin', 'float32', table);
  const [batch, time] = ops.shapeOf(positions) as [Dim, Dim];

  const normed = norm(before, `${at}.input_layernorm`);
  /** [N, heads · D] → [B, heads, T, D]. */
  const project = (part: 'q' | 'k' | 'v', count: number) => {
    const perHead = ops.reshape(linear(normed, `${at}.self_attn.${part}_proj`), [batch, time, count, size]);
    const normName = `${at}.self_attn.${part}_norm`;
    return ops.transpose(has(`${normName}.weight`) ? norm(perHead, normName) : perHead, [0, 2, 1, 3]);
  };
  const queries = ops.rotary(project('q', heads), positions, cos, sin);
  const keys = ops.rotary(project('k', keyValueHeads), positions, cos, sin);
  const values = project('v', keyValueHeads);
  const mixed = ops.transpose(attention(layer, queries, keys, values), [0, 2, 1, 3]);
  const merged = ops.reshape(mixed, ['N', heads * size]);
  const hidden = ops.add(before, linear(merged, `${at}.self_attn.o_proj`));

  const inner = norm(hidden, `${at}.post_attention_layernorm`);
  const gate = linear(inner, `${at}.mlp.gate_proj`);
  const up = linear(inner, `${at}.mlp.up_proj`);
  return ops.add(hidden, linear(ops.swiglu(gate, up), `${at}.mlp.down_proj`));
}

export function finalNorm<T>(ops: Ops<T>, config: ModelConfig, hidden: T): T {
  return parameters(ops, config).norm(hidden, 'model.norm');
}

/** Logits [M, vocabulary] of hidden states [M, width]. */
export function logits<T>(ops: Ops<T>, config: ModelConfig, hidden: T): T {
  const head = config.tie_word_embeddings ? 'model.embed_tokens.weight' : 'lm_head.weight';
  return ops.linear(hidden, parameters(ops, config).weight(head));
}

/**
 * Attention within one padded batch; `mask`, [T, T] or [B, 1, T, T], is added to the scores, and cancels those of later positions.
 * Queries attend to the keys up to the end of their quarter of the row, which skips three eighths of the scores.
 * @param blocks The number of equal blocks of queries: 1, or a multiple of 4. Only one block's scores are in memory at a time.
 */
export function selfAttention<T>(ops: Ops<T>, config: ModelConfig, mask: T, blocks: number): Attention<T> {
  const scale = 1 / Math.sqrt(headWidth(config));
  const quarters = blocks === 1 ? 1 : 4;
  const blocksPerQuarter = blocks / quarters;
  const cut = (x: T, axis: number, count: number) => (count === 1 ? [x] : ops.split(x, axis, count));
  const upTo = (quarter: number, whole: T, axis: number) =>
    quarter === quarters - 1 ? whole : ops.concat(cut(whole, axis, quarters).slice(0, quarter + 1), axis);
  const quarterOf = (block: number) => Math.floor(block / blocksPerQuarter);
  const masks = cut(mask, -2, blocks).map((rows, block) => upTo(quarterOf(block), rows, -1));
  return (_layer, queries, keys, values) => {
    const seen = Array.from({ length: quarters }, (_, quarter) =>
      [keys, values].map((x) => upTo(quarter, x, 2)),
    );
    const mixed = cut(queries, 2, blocks).map((some, block) => {
      const [seenKeys, seenValues] = seen[quarterOf(block)] as [T, T];
      return ops.attention(some, seenKeys, seenValues, masks[block]!, scale);
    });
    return blocks === 1 ? mixed[0]! : ops.concat(mixed, 2);
  };
}

function parameters<T>(ops: Ops<T>, config: ModelConfig, lowRank?: LowRank<T>) {
  const shapes = parameterShapes(config);
  const has = (name: string) => shapes.has(name);
  const weight = (name: string) => ops.input(name, 'float32', shapes.get(name)!);
  const linear = (x: T, name: string) => {
    const bias = has(`${name}.bias`) ? weight(`${name}.bias`) : undefined;
    const y = ops.linear(x, weight(`${name}.weight`), bias);
    const low = lowRank?.(x, name);
    return low === undefined ? y : ops.add(y, low);
  };
  const norm = (x: T, name: string) => ops.rmsNorm(x, weight(`${name}.weight`), config.rms_norm_eps);
  return { has, weight, linear, norm };
}
