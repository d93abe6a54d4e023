/**
 * The decoder of Llama (arXiv 2302.13971) and its relatives over Ops: RMSNorm, rotary positions, grouped-query attention,
 * SwiGLU. Their differences are in architecture.ts.
 */
import type { Dim, Ops } from '../runtime/ops.ts';
import type { Context } from './context.ts';
import { deltaNet } from './delta-net.ts';
import { mixture } from './experts.ts';
import { architectureOf } from './known-architectures.ts';
import type { ModelConfig } from './model-config.ts';
import { type LowRank, type Parameters, parameters, times } from './parameters.ts';
import { selfAttention } from './self-attention.ts';
import { shortConvolution } from './short-convolution.ts';

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
  context: Context<T>,
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
      decoderLayer(ops, config, layer, before, positions, context, lowRank),
    );
  return parameters(ops, config).norm(hidden, architectureOf(config).names.lastNorm);
}

/** One layer: hidden states [N, width] → [N, width]. */
function decoderLayer<T>(
  ops: Ops<T>,
  config: ModelConfig,
  layer: number,
  before: T,
  positions: T,
  context: Context<T>,
  lowRank?: LowRank<T>,
): T {
  const { norms, parallel, factors, convolution, deltaNet: net, layer: kindOf } = architectureOf(config);
  const own = parameters(ops, config, lowRank, `model.layers.${layer}.`);
  const normed = (x: T, name: string | undefined) => (name === undefined ? x : own.norm(x, name));
  const plus = (x: T, addition: T, normName: string | undefined) =>
    ops.add(x, times(ops, normed(addition, normName), factors.additions));
  const { mixer } = kindOf(layer);
  const mix = (x: T) => {
    const shape = ops.shapeOf(positions) as [Dim, Dim];
    if (mixer === 'convolution') return shortConvolution(ops, convolution!, layer, x, context, own);
    if (mixer === 'deltaNet') return deltaNet(ops, net!, layer, x, shape, context, own);
    return selfAttention(ops, config, layer, x, positions, context, own);
  };

  const entering = normed(before, norms.beforeAttention);
  const hidden = plus(before, mix(entering), norms.afterAttention);
  const inner = parallel ? entering : normed(hidden, norms.beforeMlp);
  return plus(hidden, feedForward(ops, config, layer, inner, own), norms.afterMlp);
}

/** The MLP of a layer, or its experts: [N, width] → [N, width]. */
function feedForward<T>(ops: Ops<T>, config: ModelConfig, layer: number, x: T, { linear }: Parameters<T>): T {
  const { fused, names, activation, experts, layer: kindOf } = architectureOf(config);
  const mlp = (x: T, part: string) => {
    const [gate, up] = fused
      ? (ops.split(linear(x, `${part}.gate_up_proj`), 1, 2) as [T, T])
      : ([names.gate, names.up].map((name) => linear(x, `${part}.${name}`)) as [T, T]);
    const gated = activation.name === 'silu' ? ops.swiglu(gate, up) : geglu(ops, gate, up);
    return linear(gated, `${part}.${names.down}`);
  };
  if (!experts || !kindOf(layer).mixture) return mlp(x, names.mlp);
  const choices = linear(x, `${names.mlp}.gate`);
  return mixture(ops, experts, x, choices, (x, index) => mlp(x, `${names.mlp}.experts.${index}`));
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
