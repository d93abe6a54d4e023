/** The attention of a layer: projections, norms of heads, rotary positions, and a gate where the architecture has one. */
import type { Dim, Ops } from '../runtime/ops.ts';
import type { Context } from './context.ts';
import { architectureOf } from './known-architectures.ts';
import { headWidth, type ModelConfig, turnedWidth } from './model-config.ts';
import { type Parameters, times } from './parameters.ts';
import { tableLength } from './rotary.ts';
import { splitWidths } from './split-widths.ts';

/** x [N, width] → [N, width], for int32 positions [B, T]. */
export function selfAttention<T>(
  ops: Ops<T>,
  config: ModelConfig,
  layer: number,
  x: T,
  positions: T,
  context: Context<T>,
  { linear, norm }: Parameters<T>,
): T {
  const { num_attention_heads: heads, num_key_value_heads: keyValueHeads } = config;
  const { fused, gated, names, queryKeyNorm, rotaryPairs, factors, layer: kindOf } = architectureOf(config);
  const { rotary } = kindOf(layer);
  const size = headWidth(config);
  const [batch, time] = ops.shapeOf(positions) as [Dim, Dim];
  const normed = (x: T, name: string | undefined) => (name === undefined ? x : norm(x, `self_attn.${name}`));

  /** [N, heads · D] → [B, heads, T, D], normalised if there is a norm. */
  const perHead = (x: T, count: number, normName?: string) => {
    const whole = normed(x, queryKeyNorm === 'together' ? normName : undefined);
    const cut = ops.reshape(whole, [batch, time, count, size]);
    return ops.transpose(normed(cut, queryKeyNorm === 'each' ? normName : undefined), [0, 2, 1, 3]);
  };
  const turned = (x: T) => {
    if (!rotary) return x;
    const width = turnedWidth(config);
    const table: readonly Dim[] = [tableLength(config), width / 2];
    const [cos, sin] = [`${rotary}.cos`, `${rotary}.sin`].map((name) => ops.input(name, 'float32', table));
    const turn = (x: T) => ops.rotary(rotaryPairs === 'neighbours' ? apart(x) : x, positions, cos!, sin!);
    if (width === size) return turn(x);
    const [first, rest] = splitWidths(ops, x, [width, size - width]) as [T, T];
    return ops.concat([turn(first), rest], -1);
  };
  /** Neighbours half a head apart. Scores stay as they are, because queries and keys are ordered alike. */
  const apart = (x: T) => {
    const shape = ops.shapeOf(x);
    const pairs = ops.reshape(x, [...shape.slice(0, -1), size / 2, 2]);
    return ops.reshape(ops.transpose(pairs, [0, 1, 2, 4, 3]), shape);
  };

  const widths = [heads * size, keyValueHeads * size, keyValueHeads * size];
  const [projected, k, v] = fused
    ? (splitWidths(ops, linear(x, 'self_attn.qkv_proj'), widths) as [T, T, T])
    : (['q', 'k', 'v'].map((part) => linear(x, `self_attn.${part}_proj`)) as [T, T, T]);
  const [q, gate] = gated ? queriesAndGate(projected) : [projected, undefined];
  const queries = times(ops, turned(perHead(q, heads, names.queryNorm)), factors.scores);
  const keys = turned(perHead(k, keyValueHeads, names.keyNorm));
  const values = perHead(v, keyValueHeads);
  const mixed = ops.transpose(context.attend(layer, queries, keys, values), [0, 2, 1, 3]);
  const merged = ops.reshape(mixed, ['N', heads * size]);
  const passed = gate === undefined ? merged : ops.mul(merged, ops.exp(ops.logSigmoid(gate)));
  return linear(passed, `self_attn.${names.attentionOutput}`);

  /** Each head has its queries before its gate. */
  function queriesAndGate(both: T): [T, T] {
    const pieces = ops.split(ops.reshape(both, ['N', heads, 2, size]), 2, 2);
    return pieces.map((piece) => ops.reshape(piece, ['N', heads * size])) as [T, T];
  }
}
