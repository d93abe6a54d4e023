/** Token alignment exists only here: trajectories become rows of tokens, mask, log-probabilities and rewards. */
import {
  type ActionTokens,
  type RewardSpec,
  type Rewards,
  ToolEnvError,
  type Trajectory,
} from '@toolenv/core';
import type { TokenRow } from '@toolenv/core/learner';

/** One sequence to learn from. All arrays have one length T; `mask` is 1 where the row learns a token of the policy. */
export interface TrainingRow extends TokenRow {
  /** [T] log-probability in nats as sampled at mask = 1, else 0. */
  logprobs: Float32Array;
  /** [T] weighted rewards, each on the last token of an action, else 0. */
  rewards: Float32Array;
  /** [T] the process rewards within `rewards`; the rest are outcome rewards. */
  processRewards: Float32Array;
  /** [T] the turn, from 0, that generated the token at mask = 1, else −1. */
  turns: Int32Array;
  /** Where the episode goes on from to this row. Absent in the first row of the episode. */
  parent?: RowParent;
  trajectory: Trajectory;
}

/** The last token of an earlier action of the episode. */
export interface RowParent {
  /** The row that learns the token: its number among the rows of the episode, from 0. */
  row: number;
  /** Place of the token in that row. */
  token: number;
}

/**
 * The rows of a trajectory, whose steps form a tree. The parent of a step is the earlier step whose prompt and action are the
 * longest prefix of the step's prompt. Without such a step the environment has rewritten the context, and the parent is the step before it.
 *
 * A step whose prompt goes on from the end of a row extends that row. Every other step starts a row. A row that goes on from
 * the middle of another begins with the same tokens, which have mask 0 there: every sampled token has mask 1 in one row only.
 *
 * A step that says `learn: false` makes no row: where later prompts repeat its tokens, their mask is 0.
 *
 * A turn's process rewards are on the last token of its action; those of a step that is not learned from, on the next that is, or else on the last. The outcome rewards are on the last action token of every
 * leaf of the tree. Rewards are weighted by the trajectory's reward spec: along a path without branches they sum to the
 * trajectory's reward. An aborted trajectory has no rows.
 * @throws ToolEnvError `bug.tokens` if a step has no tokens, an empty prompt or action, or log-probs of another length.
 */
export function toTrainingRows(trajectory: Trajectory): TrainingRow[] {
  if (trajectory.outcome.kind === 'aborted') return [];
  const drafts: Draft[] = [];
  /** Every step so far, the longest first; of equal lengths, the latest first. */
  const steps: Step[] = [];
  let previous: Step | undefined;
  let outcome = 0;
  let process = 0;
  for (const [turn, { action, rewards = {}, learn }] of trajectory.steps.entries()) {
    process += weighKind('process', trajectory.rewardSpec, rewards);
    outcome += weighKind('outcome', trajectory.rewardSpec, rewards);
    if (learn === false) continue;
    const tokens = checked(action.tokens, turn, trajectory);
    const { prompt } = tokens;
    const prefix = steps.find(({ draft, end }) => isPrefix(draft.tokens, end, prompt));
    const parent: Step | undefined = prefix ?? previous;
    let draft = prefix?.draft;
    if (!prefix || !draft || draft.tokens.length > prefix.end) {
      draft = newDraft(parent && { row: drafts.indexOf(parent.draft), token: parent.end - 1 });
      drafts.push(draft);
      for (const token of prompt.subarray(0, prefix?.end ?? 0)) push(draft, token, 0, 0, -1);
    }
    for (const token of prompt.subarray(draft.tokens.length)) push(draft, token, 0, 0, -1);
    tokens.action.forEach((token, i) => void push(draft, token, 1, tokens.logprobs[i]!, turn));
    const end = draft.tokens.length;
    draft.processRewards[end - 1] = process;
    process = 0;

    if (parent) parent.isLeaf = false;
    previous = { draft, end, isLeaf: true };
    const place = steps.findIndex((other) => other.end <= end);
    steps.splice(place === -1 ? steps.length : place, 0, previous);
  }
  if (previous) previous.draft.processRewards[previous.end - 1]! += process;
  for (const { draft, isLeaf } of steps) if (isLeaf) draft.outcome = outcome;
  return drafts.map((draft) => toRow(draft, trajectory));
}

/** A step that has been placed in a row. */
interface Step {
  draft: Draft;
  /** Length of its prompt and action, which are the first tokens of the row. */
  end: number;
  isLeaf: boolean;
}

/** A row while it grows. It always ends with an action. */
interface Draft {
  tokens: number[];
  mask: number[];
  logprobs: number[];
  processRewards: number[];
  turns: number[];
  parent: RowParent | undefined;
  /** Of the whole trajectory, if the row ends with a leaf. */
  outcome: number;
}

function newDraft(parent: RowParent | undefined): Draft {
  return { tokens: [], mask: [], logprobs: [], processRewards: [], turns: [], parent, outcome: 0 };
}

function push(draft: Draft, token: number, mask: 0 | 1, logprob: number, turn: number): void {
  draft.tokens.push(token);
  draft.mask.push(mask);
  draft.logprobs.push(logprob);
  draft.processRewards.push(0);
  draft.turns.push(turn);
}

/** Whether the first `length` tokens of a row begin the prompt. */
function isPrefix(row: readonly number[], length: number, prompt: Int32Array): boolean {
  if (length > prompt.length) return false;
  // Rewritten contexts often begin alike: they differ sooner from the end.
  for (let i = length - 1; i >= 0; i--) if (row[i] !== prompt[i]) return false;
  return true;
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
  const rewards = processRewards.with(length - 1, processRewards[length - 1]! + draft.outcome);
  return {
    tokens: Int32Array.from(draft.tokens),
    mask: Uint8Array.from(mask),
    logprobs: Float32Array.from(logprobs),
    rewards: Float32Array.from(rewards),
    processRewards: Float32Array.from(processRewards),
    turns: Int32Array.from(turns),
    ...(draft.parent && { parent: draft.parent }),
    trajectory,
  };
}

/**
 * [B] the token that each row goes on from, its row numbered within the batch; `undefined` for the first row of an episode.
 * @param rows All rows of their episodes, in order.
 */
export function parentsOf(
  rows: readonly Pick<TrainingRow, 'parent' | 'trajectory'>[],
): (RowParent | undefined)[] {
  const first = new Map<TrainingRow['trajectory'], number>();
  return rows.map(({ parent, trajectory }, b) => {
    if (!first.has(trajectory)) first.set(trajectory, b);
    return parent && { row: first.get(trajectory)! + parent.row, token: parent.token };
  });
}

/**
 * [turns] the turn that each turn goes on from; −1 for the first. The turn before, unless the episode branches.
 * @param rows All rows of one episode, in order.
 */
export function turnParents(rows: readonly Pick<TrainingRow, 'parent' | 'turns'>[]): number[] {
  const parents: number[] = [];
  for (const { parent, turns } of rows) {
    let last = parent ? rows[parent.row]!.turns[parent.token]! : -1;
    for (const turn of turns) {
      if (turn === -1 || turn === last) continue;
      parents[turn] = last;
      last = turn;
    }
  }
  return parents;
}
