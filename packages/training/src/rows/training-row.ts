/** Token alignment exists only here: trajectories become rows of tokens, mask, log-probabilities and rewards. */
import type { ActionTokens, RewardSpec, Rewards, Trajectory } from '@toolenv/core';
import { ToolEnvError } from '@toolenv/core';
import type { TokenRow } from '@toolenv/core/learner';

/** One sequence to learn from. All arrays have one length T; `mask` is 1 where the policy generated the token. */
export interface TrainingRow extends TokenRow {
  /** [T] log-probability in nats as sampled at mask = 1, else 0. */
  logprobs: Float32Array;
  /** [T] weighted rewards, each on the last token of an action, else 0. */
  rewards: Float32Array;
  /** [T] the process rewards within `rewards`; the rest are outcome rewards. */
  processRewards: Float32Array;
  /** [T] the turn, from 0, that generated the token at mask = 1, else −1. */
  turns: Int32Array;
  trajectory: Trajectory;
}

/**
 * The rows of a trajectory. Steps share a row as long as each prompt starts with the row so far (the last prompt and
 * action); a prompt that rewrites the past starts a new row, whose mask covers its own actions only.
 *
 * A turn's process rewards are placed on the last token of its action. Outcome rewards are placed on the last action token
 * of the trajectory, in its last row. Rewards are weighted by the trajectory's reward spec, so that over all rows they sum
 * to its reward. An aborted trajectory has no rows.
 * @throws ToolEnvError `bug.tokens` if a step has no tokens, an empty prompt or action, or log-probs of another length.
 */
export function toTrainingRows(trajectory: Trajectory): TrainingRow[] {
  if (trajectory.outcome.kind === 'aborted') return [];
  const drafts: Draft[] = [];
  let outcome = 0;
  trajectory.steps.forEach(({ action, rewards = {} }, turn) => {
    const tokens = checked(action.tokens, turn, trajectory);
    let draft = drafts.at(-1);
    if (!draft || !startsWith(tokens.prompt, draft.tokens)) {
      draft = { tokens: [], mask: [], logprobs: [], processRewards: [], turns: [], outcome: 0 };
      drafts.push(draft);
    }
    for (const token of tokens.prompt.subarray(draft.tokens.length)) push(draft, token, 0, 0, -1);
    tokens.action.forEach((token, i) => void push(draft, token, 1, tokens.logprobs[i]!, turn));
    draft.processRewards[draft.tokens.length - 1] = weighKind('process', trajectory.rewardSpec, rewards);
    outcome += weighKind('outcome', trajectory.rewardSpec, rewards);
  });
  const last = drafts.at(-1);
  if (last) last.outcome = outcome;
  return drafts.map((draft) => toRow(draft, trajectory));
}

/** A row while it grows. It always ends with an action. */
interface Draft {
  tokens: number[];
  mask: number[];
  logprobs: number[];
  processRewards: number[];
  turns: number[];
  /** Of the whole trajectory, if this is its last row. */
  outcome: number;
}

function push(draft: Draft, token: number, mask: 0 | 1, logprob: number, turn: number): void {
  draft.tokens.push(token);
  draft.mask.push(mask);
  draft.logprobs.push(logprob);
  draft.processRewards.push(0);
  draft.turns.push(turn);
}

function startsWith(prompt: Int32Array, row: readonly number[]): boolean {
  return prompt.length >= row.length && row.every((token, i) => token === prompt[i]);
}

function weighKind(kind: 'process' | 'outcome', spec: RewardSpec, rewards: Rewards): number {
  let total = 0;
  for (const [name, component] of Object.entries(spec)) {
    if (component.kind === kind) total += component.weight * (rewards[name] ?? 0);
  }
  return total;
}

function checked(
  tokens: ActionTokens | undefined,
  turn: number,
  { episodeId, policy }: Trajectory,
): ActionTokens {
  const wrong = (what: string) =>
    new ToolEnvError(
      'bug.tokens',
      `Turn ${turn} of episode ${episodeId} ${what}: this is a bug of policy "${policy}".`,
    );
  if (!tokens) throw wrong('has no token ids, which training needs');
  const { prompt, action, logprobs } = tokens;
  if (prompt.length === 0) throw wrong('has an empty prompt');
  if (action.length === 0) throw wrong('has an empty action');
  if (action.length !== logprobs.length)
    throw wrong(`has ${action.length} action tokens and ${logprobs.length} log-probs`);
  return tokens;
}

function toRow(draft: Draft, trajectory: Trajectory): TrainingRow {
  const { length } = draft.tokens;
  const { mask, logprobs, processRewards, turns } = draft;
  if ([mask, logprobs, processRewards, turns].some((column) => column.length !== length)) {
    throw new ToolEnvError(
      'bug.tokens',
      `A row of episode ${trajectory.episodeId} has columns of unequal length.`,
    );
  }
  const rewards = processRewards.with(length - 1, processRewards[length - 1]! + draft.outcome);
  return {
    tokens: Int32Array.from(draft.tokens),
    mask: Uint8Array.from(mask),
    logprobs: Float32Array.from(logprobs),
    rewards: Float32Array.from(rewards),
    processRewards: Float32Array.from(processRewards),
    turns: Int32Array.from(turns),
    trajectory,
  };
}
