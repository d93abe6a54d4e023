/**
 * The decoder of Llama (arXiv 2302.13971) and its relatives over Ops: RMSNorm, rotary positions, grouped-query attention,
 * SwiGLU. Their differences are in architecture.ts.
 */
import type { Dim, Ops } from '../runtime/ops.ts';
import { architectureOf } from './architecture.ts';
import { mixture } from './experts.ts';
import { headWidth, type ModelConfig, turnedWidth } from './model-config.ts';
import { tableLength } from './rotary.ts';

/** Parameter names as in Hugging Face checkpoints, with their shapes. */
export function parameterShapes(config: ModelConfig): Map<string, readonly number[]> {
  const { hidden_size: width, intermediate_size: inner, vocab_size: vocabulary } = config;
  const { biased, fused, queryKeyNorm, norms, experts, layer: kindOf } = architectureOf(config);
  const size = headWidth(config);
  const queryWidth = size * config.num_attention_heads;
  const keyValueWidth = size * config.num_key_value_heads;
  const shapes = new Map<string, readonly number[]>([['model.embed_tokens.weight', [vocabulary, width]]]);
  for (let layer = 0; layer < config.num_hidden_layers; layer++) {
    const at = `model.layers.${layer}`;
    const addLinear = (part: string, name: string, to: number, from: number) => {
      shapes.set(`${at}.${part}.${name}.weight`, [to, from]);
      if (biased.includes(name)) shapes.set(`${at}.${part}.${name}.bias`, [to]);
    };
    const addNorm = (name: string | undefined) => {
      if (name !== undefined) shapes.set(`${at}.${name}.weight`, [width]);
    };
    addNorm(norms.beforeAttention);
    if (fused) addLinear('self_attn', 'qkv_proj', queryWidth + 2 * keyValueWidth, width);
    else {
      addLinear('self_attn', 'q_proj', queryWidth, width);
      addLinear('self_attn', 'k_proj', keyValueWidth, width);
      addLinear('self_attn', 'v_proj', keyValueWidth, width);
    }
    if (queryKeyNorm) {
      const together = queryKeyNorm === 'together';
      shapes.set(`${at}.self_attn.q_norm.weight`, [together ? queryWidth : size]);
      shapes.set(`${at}.self_attn.k_norm.weight`, [together ? keyValueWidth : size]);
    }
    addLinear('self_attn', 'o_proj', width, queryWidth);
    addNorm(norms.afterAttention);
    addNorm(norms.beforeMlp);
    const addMlp = (part: string, inner: number) => {
      if (fused) addLinear(part, 'gate_up_proj', 2 * inner, width);
      else {
        addLinear(part, 'gate_proj', inner, width);
        addLinear(part, 'up_proj', inner, width);
      }
      addLinear(part, 'down_proj', width, inner);
    };
    if (experts && kindOf(layer).mixture) {
      addLinear('mlp', 'gate', experts.count, width);
      for (let expert = 0; expert < experts.count; expert++) addMlp(`mlp.experts.${expert}`, experts.width);
    } else addMlp('mlp', inner);
    addNorm(norms.afterMlp);
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

export interface DecoderOptions<T> {
  /** The table of embeddings [vocabulary, width]. Default: the parameter, which may give the logits too. */
  embeddings?: T;
  /** Adapts linear maps. */
  lowRank?: LowRank<T>;
  /** Computes a layer's hidden states [N, width] from those before it. Default: calls `compute`. */
  computeLayer?(layer: number, before: T, compute: (before: T) => T): T;
}

/** Hidden states [N, width] after the last norm, where N = B·T, for int32 `tokens` and `positions` [B, T]. */
export function decoder<T>(
  ops: Ops<T>,
  config: ModelConfig,
  tokens: T,
  positions: T,
  attention: Attention<T>,
  {
    embeddings = parameters(ops, config).weight('model.embed_tokens.weight'),
    lowRank,
    computeLayer = (_layer, before, compute) => compute(before),
  }: DecoderOptions<T> = {},
): T {
  const embedded = ops.reshape(ops.gatherRows(embeddings, tokens), ['N', config.hidden_size]);
  let hidden = times(ops, embedded, architectureOf(config).factors.embeddings);
  for (let layer = 0; layer < config.num_hidden_layers; layer++)
    hidden = computeLayer(layer, hidden, (before) =>
      decoderLayer(ops, config, layer, before, positions, attention, lowRank),
    );
  return parameters(ops, config).norm(hidden, 'model.norm');
}

/** One layer: hidden states [N, width] → [N, width]. */
function decoderLayer<T>(
  ops: Ops<T>,
  config: ModelConfig,
  layer: number,
  before: T,
  positions: T,
  attention: Attention<T>,
  lowRank?: LowRank<T>,
): T {
  const { num_attention_heads: heads, num_key_value_heads: keyValueHeads } = config;
  const {
    fused,
    queryKeyNorm,
    norms,
    parallel,
    rotaryPairs,
    activation,
    factors,
    experts,
    layer: kindOf,
  } = architectureOf(config);
  const { linear, norm } = parameters(ops, config, lowRank);
  const at = `model.layers.${layer}`;
  const size = headWidth(config);
  const [batch, time] = ops.shapeOf(positions) as [Dim, Dim];
  const normed = (x: T, name: string | undefined) => (name === undefined ? x : norm(x, `${at}.${name}`));
  const plus = (x: T, addition: T, normName: string | undefined) =>
    ops.add(x, times(ops, normed(addition, normName), factors.additions));

  /** [N, heads · D] → [B, heads, T, D], normalised if there is a norm. */
  const perHead = (x: T, count: number, normName?: string) => {
    const whole = normed(x, queryKeyNorm === 'together' ? normName : undefined);
    const cut = ops.reshape(whole, [batch, time, count, size]);
    return ops.transpose(normed(cut, queryKeyNorm === 'each' ? normName : undefined), [0, 2, 1, 3]);
  };
  const { rotary, mixture: isMixture } = kindOf(layer);
  const turned = (x: T) => {
    if (!rotary) return x;
    const width = turnedWidth(config);
    const table: readonly Dim[] = [tableLength(config), width / 2];
    const [cos, sin] = [`${rotary}.cos`, `${rotary}.sin`].map((name) => ops.input(name, 'float32', table));
    const turn = (x: T) => ops.rotary(rotaryPairs === 'neighbours' ? apart(x) : x, positions, cos!, sin!);
    if (width === size) return turn(x);
    const pieces = ops.split(x, -1, size / greatestDivisor(width, size));
    const first = (width * pieces.length) / size;
    return ops.concat([turn(ops.concat(pieces.slice(0, first), -1)), ...pieces.slice(first)], -1);
  };
  /** Neighbours half a head apart. Scores stay as they are, because queries and keys are ordered alike. */
  const apart = (x: T) => {
    const shape = ops.shapeOf(x);
    const pairs = ops.reshape(x, [...shape.slice(0, -1), size / 2, 2]);
    return ops.reshape(ops.transpose(pairs, [0, 1, 2, 4, 3]), shape);
  };

  const entering = normed(before, norms.beforeAttention);
  const [q, k, v] = fused
    ? fusedProjections(linear(entering, `${at}.self_attn.qkv_proj`))
    : (['q', 'k', 'v'].map((part) => linear(entering, `${at}.self_attn.${part}_proj`)) as [T, T, T]);
  const queries = times(ops, turned(perHead(q, heads, 'self_attn.q_norm')), factors.scores);
  const keys = turned(perHead(k, keyValueHeads, 'self_attn.k_norm'));
  const values = perHead(v, keyValueHeads);
  const mixed = ops.transpose(attention(layer, queries, keys, values), [0, 2, 1, 3]);
  const merged = ops.reshape(mixed, ['N', heads * size]);
  const hidden = plus(before, linear(merged, `${at}.self_attn.o_proj`), norms.afterAttention);

  const inner = parallel ? entering : normed(hidden, norms.beforeMlp);
  const mlp = (x: T, name: string) => {
    const [gate, up] = fused
      ? (ops.split(linear(x, `${name}.gate_up_proj`), 1, 2) as [T, T])
      : (['gate', 'up'].map((part) => linear(x, `${name}.${part}_proj`)) as [T, T]);
    const gated = activation.name === 'silu' ? ops.swiglu(gate, up) : geglu(ops, gate, up);
    return linear(gated, `${name}.down_proj`);
  };
  const added =
    experts && isMixture
      ? mixture(ops, experts, inner, linear(inner, `${at}.mlp.gate`), (x, index) =>
          mlp(x, `${at}.mlp.experts.${index}`),
        )
      : mlp(inner, `${at}.mlp`);
  return plus(hidden, added, norms.afterMlp);

  /** Queries, keys and values from [N, (heads + 2 · key-value heads) · D], which is split into parts of the width of the keys. */
  function fusedProjections(all: T): [T, T, T] {
    const parts = ops.split(all, 1, heads / keyValueHeads + 2);
    const ofQueries = parts.slice(0, -2);
    const queries = ofQueries.length === 1 ? ofQueries[0]! : ops.concat(ofQueries, 1);
    return [queries, ...(parts.slice(-2) as [T, T])];
  }
}

/** The name of the parameter that gives the logits. */
export function headName(config: ModelConfig): string {
  return config.tie_word_embeddings ? 'model.embed_tokens.weight' : 'lm_head.weight';
}

/** Logits [M, vocabulary] of hidden states [M, width]. */
export function logits<T>(ops: Ops<T>, config: ModelConfig, hidden: T): T {
  const scaled = times(ops, hidden, architectureOf(config).factors.logits);
  return ops.linear(scaled, parameters(ops, config).weight(headName(config)));
}

/** Each layer of a program asks for them, and a mixture has ten thousands. */
const knownShapes: WeakMap<ModelConfig, ReturnType<typeof parameterShapes>> = new WeakMap();

function parameters<T>(ops: Ops<T>, config: ModelConfig, lowRank?: LowRank<T>) {
  const shapes = knownShapes.get(config) ?? parameterShapes(config);
  knownShapes.set(config, shapes);
  const { centred, normOffset } = architectureOf(config);
  const weight = (name: string) => ops.input(name, 'float32', shapes.get(name)!);
  const linear = (x: T, name: string) => {
    const bias = shapes.has(`${name}.bias`) ? weight(`${name}.bias`) : undefined;
    const y = ops.linear(x, weight(`${name}.weight`), bias);
    const low = lowRank?.(x, name);
    return low === undefined ? y : ops.add(y, low);
  };
  const norm = (x: T, name: string) => {
    const given = weight(`${name}.weight`);
    const scale = normOffset === 0 ? given : ops.add(given, ops.scalar(normOffset));
    return ops.rmsNorm(centred ? minusMean(ops, x) : x, scale, config.rms_norm_eps);
  };
  return { weight, linear, norm };
}

function greatestDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestDivisor(b, a % b);
}

/** Over the last axis. */
function minusMean<T>(ops: Ops<T>, x: T): T {
  const count = ops.shapeOf(x).at(-1) as number;
  return ops.sub(x, times(ops, ops.sum(x, [-1]), 1 / count));
}

function times<T>(ops: Ops<T>, x: T, factor: number): T {
  return factor === 1 ? x : ops.mul(x, ops.scalar(factor));
}

/**
 * GeGLU's product (arXiv 2002.05202) with the approximation by tanh: gelu(gate) · up. That is gate · sigmoid(c · gate) · up, where
 * c = 2 · √(2/π) · (1 + 0.044715 · gate²), and so SwiGLU's product of c · gate and up / c.
 */
function geglu<T>(ops: Ops<T>, gate: T, up: T): T {
  const factor = 2 * Math.sqrt(2 / Math.PI);
  const square = ops.mul(ops.mul(gate, gate), ops.scalar(0.044715 * factor));
  const c = ops.add(square, ops.scalar(factor));
  return ops.swiglu(ops.mul(c, gate), ops.div(up, c));
}
