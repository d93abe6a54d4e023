/** successShare: how well an episode ended, from 0 to 1, whatever its environment counts as a reward. */
import type { RewardComponent, RewardSpec, Rewards } from '@toolenv/core';
import { isRightness, primaryMetric } from '../reports/primary-metric.ts';

/**
 * The outcome component whose name says which episodes were right, as a share of its range; without one, all weighted outcome components
 * together. It is linear: the share of mean rewards is the mean share.
 * @param spec May come from a damaged record.
 * @returns `undefined` if nothing scored the outcome, or if its range is unknown.
 */
export function successShare(spec: RewardSpec | undefined, rewards: Partial<Rewards>): number | undefined {
  const outcomes = Object.entries(weighingComponents(spec)).filter(([, { kind }]) => kind === 'outcome');
  const right = primaryMetric(outcomes.map(([name]) => name));
  const counted =
    right !== undefined && isRightness(right) ? outcomes.filter(([name]) => name === right) : outcomes;
  const scored = counted.filter(([name]) => typeof rewards[name] === 'number');
  const [low, high] = weightedRange(counted.map(([, component]) => component));
  if (scored.length === 0 || high <= low) return undefined;
  const earned = scored.reduce((sum, [name, { weight }]) => sum + weight * rewards[name]!, 0);
  return (earned - low) / (high - low);
}

/** The least and the largest sum of such rewards, each times its weight. */
export function weightedRange(components: readonly RewardComponent[]): [low: number, high: number] {
  const ends = (pick: typeof Math.min) =>
    components.reduce((sum, { weight, range }) => sum + pick(...range.map((end) => end * weight)), 0);
  return [ends(Math.min), ends(Math.max)];
}

/** The components that count in the reward, of a record that may be damaged. */
export function weighingComponents(spec: unknown): RewardSpec {
  const entries = Object.entries(Object(spec) as RewardSpec);
  return Object.fromEntries(
    entries.filter(([, component]) => {
      const { kind, weight, range } = Object(component) as Partial<RewardComponent>;
      const isRange = Array.isArray(range) && range.length === 2 && range.every(Number.isFinite);
      return (kind === 'outcome' || kind === 'process') && Number.isFinite(weight) && weight !== 0 && isRange;
    }),
  );
}
