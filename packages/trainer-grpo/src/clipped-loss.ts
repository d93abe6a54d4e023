/** GRPO's policy loss over per-token arrays: clipped importance ratio and a k3 penalty towards a reference policy. */
import type { Rows } from '@toolenv/core';

export interface ClippedLossInputs {
  /** [B][T] log-probabilities under the policy being trained. */
  logprobs: Rows;
  /** [B][T] under the policy that sampled. */
  oldLogprobs: Rows;
  /** [B][T] under the reference policy; needed if beta > 0. */
  referenceLogprobs?: Rows;
  /** [B][T] 1 where the policy generated the token. What the other arrays hold elsewhere changes nothing. */
  mask: Uint8Array[];
  /** [B] */
  advantages: readonly number[];
}

export interface ClippedLossOptions {
  /** The ratio is clipped to [1 − low, 1 + high]. */
  clip: readonly [low: number, high: number];
  /** Weight of the k3 estimate of KL(policy ‖ reference). */
  beta: number;
  /**
   * `sequence`: mean over rows of each row's token mean (GRPO's own). `token`: mean over all action tokens (DAPO,
   * arXiv 2503.14476), which does not favour short wrong answers.
   */
  average: 'sequence' | 'token';
}

export interface ClippedLoss {
  value: number;
  /** [B][T] ∂value/∂logprobs. */
  dLogprobs: Rows;
  metrics: { 'clip_ratio/region_mean': number; kl: number };
}

/** −min(w·A, clip(w)·A) + β·k3, w = exp(logprob − old), k3 = exp(ref − logprob) − (ref − logprob) − 1, averaged. */
export function clippedLoss(
  inputs: ClippedLossInputs,
  { clip, beta, average }: ClippedLossOptions,
): ClippedLoss {
  const { logprobs, oldLogprobs, referenceLogprobs, mask, advantages } = inputs;
  const rowTokens = mask.map((row) => row.reduce((sum, bit) => sum + bit, 0));
  const allTokens = rowTokens.reduce((sum, count) => sum + count, 0);
  const dLogprobs = logprobs.map((row) => new Float32Array(row.length));
  let value = 0;
  let clipped = 0;
  let kl = 0;
  for (const [b, row] of logprobs.entries()) {
    const weight = average === 'token' ? 1 / allTokens : 1 / (logprobs.length * rowTokens[b]!);
    const advantage = advantages[b]!;
    for (let t = 0; t < row.length; t++) {
      if (mask[b]![t] !== 1) continue;
      const ratio = Math.exp(row[t]! - oldLogprobs[b]![t]!);
      const bounded = Math.min(Math.max(ratio, 1 - clip[0]), 1 + clip[1]);
      const isClipped = bounded * advantage < ratio * advantage;
      value -= weight * advantage * (isClipped ? bounded : ratio);
      if (isClipped) clipped += 1;
      else dLogprobs[b]![t] = -weight * advantage * ratio;
      if (beta === 0) continue;
      const difference = referenceLogprobs![b]![t]! - row[t]!;
      const k3 = Math.exp(difference) - difference - 1;
      value += weight * beta * k3;
      dLogprobs[b]![t]! += weight * beta * (1 - Math.exp(difference));
      kl += k3;
    }
  }
  const tokens = Math.max(allTokens, 1);
  return { value, dLogprobs, metrics: { 'clip_ratio/region_mean': clipped / tokens, kl: kl / tokens } };
}
