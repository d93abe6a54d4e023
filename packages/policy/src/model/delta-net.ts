/** The gated delta net of Qwen3.5 (arXiv 2412.06464), in the place of attention: each head has a memory instead of a past. */
import type { Dim, Ops } from '../runtime/ops.ts';
import type { DeltaNet } from './architecture.ts';
import type { Context } from './context.ts';
import type { Parameters } from './parameters.ts';
import { tapsOf } from './short-convolution.ts';
import { splitWidths } from './split-widths.ts';

/** Of the lengths by which queries and keys are divided. */
const epsilon = 1e-6;

/** x [N, width] → [N, width], for N = B · T. */
export function deltaNet<T>(
  ops: Ops<T>,
  { keyHeads, valueHeads, keyWidth, valueWidth, taps }: DeltaNet,
  layer: number,
  x: T,
  [batch, time]: readonly [Dim, Dim],
  context: Context<T>,
  { weight, linear, norm }: Parameters<T>,
): T {
  const part = (name: string) => linear(x, `linear_attn.in_proj_${name}`);
  const [ofKeys, ofValues] = [keyHeads * keyWidth, valueHeads * valueWidth];
  const seen = context.convolve(layer, part('qkv'), tapsOf(ops, weight('linear_attn.conv1d.weight'), taps));
  const active = ops.mul(seen, ops.exp(ops.logSigmoid(seen)));
  const [q, k, v] = splitWidths(ops, active, [ofKeys, ofKeys, ofValues]) as [T, T, T];
  /** [N, heads · width] → [B, value heads, T, width]. Neighbouring heads of values share keys. */
  const perHead = (x: T, heads: number, width: number) => {
    const apart = ops.transpose(ops.reshape(x, [batch, time, heads, width]), [0, 2, 1, 3]);
    const times = valueHeads / heads;
    if (times === 1) return apart;
    const once = ops.reshape(apart, [batch, heads, 1, time, width]);
    return ops.reshape(ops.concat(Array(times).fill(once), 2), [batch, valueHeads, time, width]);
  };
  const unit = (x: T) => ops.div(x, ops.sqrt(ops.add(ops.sum(ops.mul(x, x), [-1]), ops.scalar(epsilon))));
  const slowness = ops.add(part('a'), weight('linear_attn.dt_bias'));
  // log(1 + eˣ) = −log σ(−x).
  const decays = ops.mul(ops.exp(weight('linear_attn.A_log')), ops.logSigmoid(ops.neg(slowness)));
  const given = {
    queries: ops.mul(unit(perHead(q, keyHeads, keyWidth)), ops.scalar(1 / Math.sqrt(keyWidth))),
    keys: unit(perHead(k, keyHeads, keyWidth)),
    values: perHead(v, valueHeads, valueWidth),
    rates: ops.exp(ops.logSigmoid(part('b'))),
    decays,
  };
  const recalled = ops.transpose(context.recall(layer, given), [0, 2, 1, 3]);
  const normed = norm(ops.reshape(recalled, ['N', valueHeads, valueWidth]), 'linear_attn.norm', true);
  const merged = ops.swiglu(part('z'), ops.reshape(normed, ['N', ofValues]));
  return linear(merged, 'linear_attn.out_proj');
}
