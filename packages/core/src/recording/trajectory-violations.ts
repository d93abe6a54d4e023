/** The TRAJ rules that a trajectory breaks although it has the form of one, and whether it can be learned from. */
import { isDeepStrictEqual } from 'node:util';
import { checkAction } from '../boundary/check-action.ts';
import { ToolEnvError } from '../protocol/errors.ts';
import { excerpt } from '../protocol/excerpt.ts';
import { type Rewards, rewardTolerance, scoreTruncation, sumRewards, weigh } from '../protocol/reward.ts';
import type { Trajectory } from '../protocol/trajectory.ts';

/** A broken rule: what was expected and what was received. */
export interface TrajectoryViolation {
  rule: 'TRAJ-3' | 'TRAJ-4' | 'TRAJ-5' | 'TRAJ-6' | 'TRAJ-7' | 'TRAJ-8' | 'TRAJ-9';
  expected: string;
  received: string;
}

/** The first violation of each rule from TRAJ-3 on. */
export function* trajectoryViolations(trajectory: Trajectory): Generator<TrajectoryViolation> {
  for (const check of [
    checkTotals,
    checkEnd,
    checkTokens,
    checkOutcomeRewards,
    checkCalls,
    checkTruncation,
  ]) {
    const wrong = check(trajectory);
    if (wrong) yield wrong;
  }
}

/** Why nothing should be learned from the trajectory, in words: a broken rule of trajectories or of actions; `undefined` if it keeps them. */
export function trajectoryMistake(trajectory: Trajectory): string | undefined {
  for (const { rule, expected, received } of trajectoryViolations(trajectory))
    return `${rule}: expected ${expected}; received ${received}`;
  for (const [turn, { action }] of trajectory.steps.entries()) {
    const wrong = checkAction(action);
    if (wrong) return `${wrong.rule} in step ${turn}: ${wrong.problem}`;
  }
  return undefined;
}

type Check = (trajectory: Trajectory) => TrajectoryViolation | undefined;

/** The totals of the first player, and those of the others. */
const checkTotals: Check = (trajectory) => {
  const wrong = checkTotalsOf(trajectory);
  if (wrong) return wrong;
  for (const [name, totals] of Object.entries(trajectory.players ?? {})) {
    const steps = trajectory.steps.map((step) => ({ ...step, rewards: step.playerRewards?.[name] }));
    const ofPlayer = checkTotalsOf({ ...trajectory, steps, ...totals });
    if (ofPlayer) return { ...ofPlayer, expected: `${ofPlayer.expected}, of player "${name}"` };
  }
  return undefined;
};

function checkTotalsOf({
  steps,
  rewards,
  reward,
  rewardSpec,
  outcome,
}: Pick<Trajectory, 'rewards' | 'reward' | 'rewardSpec' | 'outcome'> & {
  steps: readonly { rewards?: Rewards | undefined }[];
}): TrajectoryViolation | undefined {
  if (outcome.kind === 'aborted') {
    if (reward === null && Object.values(rewards).every((value) => value === null)) return undefined;
    return violation('TRAJ-4', 'null for the reward and every component', { rewards, reward });
  }
  let total: Trajectory['rewards'];
  try {
    total = sumRewards(rewardSpec, steps);
  } catch (error) {
    if (!ToolEnvError.isInstance(error)) throw error;
    return { rule: 'TRAJ-3', expected: 'declared rewards within their ranges', received: error.message };
  }
  // An episode that ends before its first turn has no step to carry its zeros.
  if (steps.length === 0) total = scoreTruncation(rewardSpec, total);
  for (const name of new Set([...Object.keys(total), ...Object.keys(rewards)])) {
    if (isClose(total[name], rewards[name])) continue;
    return violation('TRAJ-3', `"${name}" ${total[name]}, its sum over the steps`, rewards[name]);
  }
  const weighed = weigh(rewardSpec, rewards);
  return isClose(reward, weighed)
    ? undefined
    : violation('TRAJ-3', `reward ${weighed}, the weighted sum`, reward);
}

function isClose(a: number | null | undefined, b: number | null | undefined): boolean {
  if (typeof a !== 'number' || typeof b !== 'number') return a === b;
  return Math.abs(a - b) <= rewardTolerance * Math.max(1, Math.abs(a));
}

const checkEnd: Check = ({ outcome }) =>
  outcome.kind === 'running'
    ? { rule: 'TRAJ-5', expected: 'an outcome that ends it', received: 'running' }
    : undefined;

const checkTokens: Check = ({ steps }) => {
  for (const [turn, { action }] of steps.entries()) {
    if (!action.tokens) continue;
    const { prompt, action: generated, logprobs } = action.tokens;
    if (prompt.length > 0 && generated.length > 0 && generated.length === logprobs.length) continue;
    const expected = `a prompt, and as many logprobs as action tokens, in step ${turn}`;
    const received = `${prompt.length} prompt tokens, ${generated.length} action tokens, ${logprobs.length} logprobs`;
    return { rule: 'TRAJ-6', expected, received };
  }
  return undefined;
};

const checkOutcomeRewards: Check = ({ steps, rewardSpec }) => {
  for (const [turn, { rewards = {} }] of steps.slice(0, -1).entries()) {
    const early = Object.entries(rewards).find(
      ([name, value]) => value !== null && rewardSpec[name]?.kind === 'outcome',
    );
    if (early) return violation('TRAJ-7', `no "${early[0]}" in step ${turn} of ${steps.length}`, early[1]);
  }
  return undefined;
};

/** Only the last step may lack records: a deadline or the length limit may have cut it short. */
const checkCalls: Check = ({ steps, outcome }) => {
  for (const [turn, { action, calls }] of steps.entries()) {
    const last = turn === steps.length - 1;
    if (last && calls.length === 0 && outcome.kind !== 'terminated') continue;
    const recorded = calls.map(({ call }) => call);
    if (isDeepStrictEqual(recorded, action.toolCalls)) continue;
    return violation('TRAJ-8', `records of ${brief(action.toolCalls)} in step ${turn}`, recorded);
  }
  return undefined;
};

const checkTruncation: Check = ({ outcome, rewards, rewardSpec }) => {
  if (outcome.kind !== 'truncated') return undefined;
  for (const [name, { kind }] of Object.entries(rewardSpec)) {
    if (kind !== 'outcome' || typeof rewards[name] === 'number') continue;
    return violation('TRAJ-9', `a value of "${name}"`, rewards[name]);
  }
  return undefined;
};

function violation(
  rule: TrajectoryViolation['rule'],
  expected: string,
  received: unknown,
): TrajectoryViolation {
  return { rule, expected, received: brief(received) };
}

function brief(value: unknown): string {
  return excerpt(JSON.stringify(value) ?? String(value), 200);
}
