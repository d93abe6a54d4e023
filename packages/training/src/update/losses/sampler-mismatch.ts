/** Sampler and learner compute slightly different probabilities; truncated importance sampling corrects for this. */
import { ToolEnvError } from '@toolenv/core';
import type { TokenValues } from '@toolenv/core/learner';
import type { Metrics, Run } from '@toolenv/core/plugins';
import { type EpisodePlaces, valuesAt } from '../../rows/averages.ts';
import { differenceStatistics, tokenStatistics } from '../../rows/token-statistics.ts';
import type { AlgorithmContext } from '../../trainer/algorithm.ts';
import type { SelectionOptions } from '../../trainer/selection-options.ts';
import type { Loss } from './define-loss.ts';
import type { LossOptions } from './loss-options.ts';
import { losses } from './losses.ts';

/**
 * The ratio p_learner/p_sampler is taken per token or, as a product, per episode. Outside its bounds, `truncate` replaces it by the
 * bound (TIS), and `mask` leaves the token or episode out.
 */
export type MismatchCorrection = 'token_truncate' | 'token_mask' | 'sequence_truncate' | 'sequence_mask';

/** Whether another program samples: workers, or the server of the policy. Its log-probabilities are not the learner's. */
export function usesSeparateSampler({ rollouts, policy }: Pick<Run, 'rollouts' | 'policy'>): boolean {
  return rollouts !== undefined || policy.spec.usesSeparateSampler === true;
}

/**
 * The correction of a run; `undefined` for none. By default there is one where the sampler is another policy than the one that
 * learns: another program, or weights that change while a rollout is played.
 */
export function correctionOf(
  {
    mismatchCorrection,
    maxStaleness,
  }: Pick<SelectionOptions, 'mismatchCorrection'> & { maxStaleness: number },
  run: Pick<Run, 'rollouts' | 'policy'>,
): MismatchCorrection | undefined {
  const differs = maxStaleness > 0 || usesSeparateSampler(run);
  const correction = mismatchCorrection ?? (differs ? 'token_truncate' : 'none');
  return correction === 'none' ? undefined : correction;
}

/**
 * Refuses a correction that the loss cannot use. A loss that corrects for the sampler itself, such as vespo, multiplies the weights
 * of an episode's tokens. A weight per sequence is that product already, on each of its tokens, and would be multiplied once per
 * token.
 * @param owner Names in errors whose option it is.
 * @throws ToolEnvError `usage.bad_option`
 */
export function assertCorrection(
  owner: string,
  { name, correctsMismatch }: Pick<Loss, 'name' | 'correctsMismatch'>,
  correction: MismatchCorrection | undefined,
): void {
  if (!correctsMismatch || !correction?.startsWith('sequence')) return;
  const message = `${owner}: option "mismatchCorrection": the loss ${name} multiplies the weights of all tokens itself: give token_truncate or token_mask instead of ${correction}.`;
  throw new ToolEnvError('usage.bad_option', message);
}

/** The loss that the options of a run choose. */
export function lossOf({ options, parts }: Pick<AlgorithmContext<LossOptions>, 'options' | 'parts'>): Loss {
  return (parts.loss as Loss | undefined) ?? losses[String(options.loss)]!;
}

/**
 * Refuses a loss that cannot use the correction of the run, as `assertCorrection` does.
 * @throws ToolEnvError `usage.bad_option`
 */
export function checkLoss(
  owner: string,
  context: Pick<
    AlgorithmContext<LossOptions & Pick<SelectionOptions, 'mismatchCorrection'>>,
    'options' | 'parts' | 'run'
  >,
): void {
  assertCorrection(owner, lossOf(context), correctionOf(context.options, context.run));
}

/**
 * Whether the log-probabilities of the sampler are not the learner's, so that a forward pass is needed. How far another sampler is
 * from the learner is measured also without a correction.
 */
export function differsFromSampler(
  options: Parameters<typeof correctionOf>[0],
  run: Pick<Run, 'rollouts' | 'policy'>,
): boolean {
  return usesSeparateSampler(run) || correctionOf(options, run) !== undefined;
}

export interface Mismatch {
  /** [B][T] factors of each token's policy gradient; 0 at mask 0. */
  weights: Float64Array[];
  metrics: Metrics;
}

/**
 * @param oldLogprobs [B][T] from the learner, before the step.
 * @param sampledLogprobs [B][T] from the sampler.
 * @param episodes The tokens of each episode.
 */
export function mismatchWeights(
  oldLogprobs: TokenValues,
  sampledLogprobs: TokenValues,
  mask: readonly Uint8Array[],
  episodes: readonly EpisodePlaces[],
  { correction, floor, cap }: { correction: MismatchCorrection; floor: number; cap: number },
): Mismatch {
  const isWhole = correction.startsWith('sequence');
  const truncates = correction.endsWith('truncate');
  const bounded = (ratio: number) => {
    if (ratio >= floor && ratio <= cap) return ratio;
    return truncates ? Math.min(Math.max(ratio, floor), cap) : 0;
  };
  const distances = mask.map((row) => new Float64Array(row.length));
  const weights = mask.map((row) => new Float64Array(row.length));
  for (const places of episodes) {
    const old = valuesAt(oldLogprobs, places);
    const each = valuesAt(sampledLogprobs, places).map((sampled, i) => old[i]! - sampled);
    const whole = each.reduce((sum, value) => sum + value, 0);
    for (const [i, difference] of each.entries()) {
      const [b, t] = [places.b[i]!, places.t[i]!];
      distances[b]![t] = Math.abs(difference);
      weights[b]![t] = bounded(Math.exp(isWhole ? whole : difference));
    }
  }
  const ratios = tokenStatistics('sampling/importance_sampling_ratio', weights, mask);
  return { weights, metrics: { ...differenceStatistics(distances, mask), ...ratios } };
}
