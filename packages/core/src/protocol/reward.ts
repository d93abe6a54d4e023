/** Rewards: named components, each with a declared kind, range and weight. `null` means "not scored", which is not 0. */
import { ToolEnvError } from './errors.ts';
import { isPlainObject } from './plain-object.ts';
import { describe, type Violation } from './violation.ts';

/** Rounding error that a reward may have at the ends of its range, and a sum of rewards relative to max(1, |sum|). */
export const rewardTolerance = 1e-6;

/** A part of the reward: when it is scored, its values, and how much it weighs. */
export interface RewardComponent {
  /** `process`: may be scored at any step. `outcome`: is scored once, at the end. */
  kind: 'process' | 'outcome';
  range: readonly [low: number, high: number];
  /** Weight in the scalar reward. A component of weight 0 is reported but not trained on. */
  weight: number;
  /** Counts what should not happen, such as a trick. It weighs 0, and runs say if it rises with the reward. Absent: it does not. */
  monitor?: true;
}

/** The components of an environment, by name. */
export type RewardSpec = Readonly<Record<string, RewardComponent>>;
/** Scores by component. `null` is "not scored", which is not 0. */
export type Rewards = Record<string, number | null>;

/** The rewards of a truncated step: 0 for every outcome component that `rewards` leaves unscored. */
export function scoreTruncation(spec: RewardSpec, rewards: Rewards): Rewards {
  const scored: Rewards = { ...rewards };
  for (const [name, { kind }] of Object.entries(spec)) if (kind === 'outcome') scored[name] ??= 0;
  return scored;
}

/**
 * Each declared component summed over the steps that scored it; `null` if no step did.
 * @throws ToolEnvError `bug.reward` for a component that is not declared, a value that is not a number in its range, or a sum that
 *   no number can hold.
 */
export function sumRewards(spec: RewardSpec, steps: readonly { rewards?: Rewards | undefined }[]): Rewards {
  const total: Rewards = Object.fromEntries(Object.keys(spec).map((name) => [name, null]));
  for (const { rewards = {} } of steps) {
    for (const [name, value] of Object.entries(rewards)) {
      const wrong = checkReward(spec, name, value);
      if (wrong) throw new ToolEnvError('bug.reward', `${wrong.problem} (${wrong.rule}).`);
      if (value !== null) total[name] = (total[name] ?? 0) + value;
    }
  }
  for (const [name, sum] of Object.entries(total)) {
    if (sum === null || Number.isFinite(sum)) continue;
    throw new ToolEnvError('bug.reward', `Reward "${name}" adds up to ${sum} (ENV-21).`);
  }
  return total;
}

/** What is wrong with a declaration of rewards, ENV-4. */
export function checkRewardSpec(spec: unknown): Violation | undefined {
  if (!isPlainObject(spec)) return { rule: 'ENV-4', problem: `the declared rewards are ${describe(spec)}` };
  for (const [name, component] of Object.entries(spec)) {
    const { kind, range, weight, monitor } = Object(component);
    const wrong = (what: string, expected: string) => {
      return { rule: 'ENV-4', problem: `${what} of reward "${name}": give ${expected}` };
    };
    if (kind !== 'process' && kind !== 'outcome')
      return wrong(`${describe(kind)} is the kind`, '"process" or "outcome"');
    if (!Number.isFinite(weight)) return wrong(`${describe(weight)} is the weight`, 'a finite number');
    if (monitor !== undefined && (monitor !== true || weight !== 0))
      return wrong(
        `${describe(monitor)} is \`monitor\` and ${describe(weight)} the weight`,
        'monitor: true without a weight, or no monitor',
      );
    const isRange = Array.isArray(range) && range.length === 2 && range.every(Number.isFinite);
    if (!isRange || range[0] > range[1])
      return wrong(
        `[${Array.isArray(range) ? range.map(describe) : describe(range)}] is the range`,
        'two finite numbers, low ≤ high',
      );
  }
  return undefined;
}

/** What is wrong with the value of a component, ENV-20 and ENV-21. */
export function checkReward(spec: RewardSpec, name: string, value: unknown): Violation | undefined {
  const component = Object.hasOwn(spec, name) ? spec[name] : undefined;
  if (!component) {
    const names = Object.keys(spec).join(', ') || 'none';
    return { rule: 'ENV-20', problem: `Reward "${name}" is not declared in the spec. Declared: ${names}` };
  }
  if (value === null) return undefined;
  if (typeof value !== 'number' || !Number.isFinite(value)) {
    return {
      rule: 'ENV-21',
      problem: `Reward "${name}" is ${describe(value)}: give a finite number or null`,
    };
  }
  const [low, high] = component.range;
  if (value >= low - rewardTolerance && value <= high + rewardTolerance) return undefined;
  return { rule: 'ENV-21', problem: `Reward "${name}" is ${value}, outside its range [${low}, ${high}]` };
}

/**
 * The scalar reward: Σ weight · value over the scored components. `null` if nothing is scored that weighs: a component of weight 0 counts
 * only where no other is declared. 0 where nothing is declared.
 */
export function weigh(spec: RewardSpec, rewards: Rewards): number | null {
  const declared = Object.entries(spec);
  const weighing = declared.filter(([, { weight }]) => weight !== 0);
  const counting = weighing.length > 0 ? weighing : declared;
  if (counting.length > 0 && counting.every(([name]) => (rewards[name] ?? null) === null)) return null;
  let total = 0;
  for (const [name, value] of Object.entries(rewards)) total += (spec[name]?.weight ?? 0) * (value ?? 0);
  return total;
}
