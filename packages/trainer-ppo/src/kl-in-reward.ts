/** The KL penalty of PPO: taken out of each token's reward, with a weight that may seek a target. */
import type { TokenValues } from '@toolenv/core/learner';

/** How much the KL is weighed, and how that changes with the KL seen. */
export interface KlController {
  /** β of the coming step. */
  readonly coefficient: number;
  /** @param kl Mean over the episodes' tokens. @param episodes How many were seen. */
  update(kl: number, episodes: number): void;
}

export class FixedKl implements KlController {
  readonly coefficient: number;

  constructor(coefficient: number) {
    this.coefficient = coefficient;
  }

  update(): void {}
}

/** Raises β while the KL is above its target and lowers it below (arXiv 1909.08593, section 2.2). */
export class AdaptiveKl implements KlController {
  coefficient: number;
  readonly #target: number;
  readonly #horizon: number;

  /** @param horizon Episodes in which β changes by a fifth at most. */
  constructor(coefficient: number, { target, horizon }: { target: number; horizon: number }) {
    this.coefficient = coefficient;
    this.#target = target;
    this.#horizon = horizon;
  }

  update(kl: number, episodes: number): void {
    const error = Math.min(Math.max(kl / this.#target - 1, -0.2), 0.2);
    this.coefficient *= 1 + (error * episodes) / this.#horizon;
  }
}

/**
 * r_t − β·(log p_old − log p_ref) at mask = 1, and the mean over rows of each row's mean of that difference. All arrays
 * [B][T]; what they hold at mask 0 stays or is ignored.
 */
export function penalisedRewards(
  rewards: TokenValues,
  logprobs: TokenValues,
  referenceLogprobs: TokenValues,
  mask: readonly Uint8Array[],
  coefficient: number,
): { rewards: Float64Array[]; kl: number } {
  let kl = 0;
  const penalised = mask.map((row, b) => {
    let [sum, count] = [0, 0];
    const changed = Float64Array.from(row, (bit, t) => {
      const reward = rewards[b]![t]!;
      if (bit !== 1) return reward;
      const difference = logprobs[b]![t]! - referenceLogprobs[b]![t]!;
      sum += difference;
      count += 1;
      return reward - coefficient * difference;
    });
    kl += sum / Math.max(count, 1) / mask.length;
    return changed;
  });
  return { rewards: penalised, kl };
}
