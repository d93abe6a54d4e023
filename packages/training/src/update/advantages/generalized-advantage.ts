/** Generalised advantage estimation (arXiv 1506.02438) over the policy's own tokens, skipping the environment's. */
import type { TokenValues } from '@toolenv/core/learner';
import { atMask } from '../../rows/averages.ts';
import type { RowParent } from '../../rows/training-row.ts';

export interface GeneralizedAdvantages {
  /** [B][T] at mask 1, not whitened; else 0. */
  advantages: Float64Array[];
  /** [B][T] advantages + values at mask 1, which a critic learns; else 0. */
  returns: Float64Array[];
}

/** The token that follows on a path: V and A of it. */
interface Next {
  value: number;
  advantage: number;
}

/**
 * δ_t = r_t + γ·V_{t+1} − V_t and A_t = δ_t + γλ·A_{t+1}, where t + 1 is the next token with mask 1 on the path from token t to a
 * leaf of its episode. It may be in a later turn or row. Where the episode branches, V_{t+1} and A_{t+1} are the means over
 * the branches. The environment's tokens between them do not discount, and have no values or rewards. Beyond a leaf V and A are 0.
 * @param rewards [B][T]
 * @param values [B][T] V_t is of the state before token t.
 * @param mask [B][T]
 * @param parents [B] the token that each row goes on from, in an earlier row (`parentsOf`); `undefined` begins an episode.
 */
export function generalizedAdvantages(
  rewards: TokenValues,
  values: TokenValues,
  mask: readonly Uint8Array[],
  parents: readonly (RowParent | undefined)[],
  { gamma, lambda }: { gamma: number; lambda: number },
): GeneralizedAdvantages {
  const advantages = mask.map((row) => new Float64Array(row.length));
  const returns = mask.map((row) => new Float64Array(row.length));
  /** By row and token: the first tokens of the rows that go on from there. */
  const branches = mask.map(() => new Map<number, Next[]>());
  for (const [b, row] of [...mask.entries()].reverse()) {
    let next: Next | undefined;
    for (let t = row.length - 1; t >= 0; t--) {
      const others = branches[b]!.get(t);
      if (others) next = meanOf(next ? [next, ...others] : others);
      if (row[t] !== 1) continue;
      const value = values[b]![t]!;
      const { value: nextValue, advantage: nextAdvantage } = next ?? { value: 0, advantage: 0 };
      const delta = rewards[b]![t]! + gamma * nextValue - value;
      next = { value, advantage: delta + gamma * lambda * nextAdvantage };
      advantages[b]![t] = next.advantage;
      returns[b]![t] = next.advantage + value;
    }
    const parent = parents[b];
    if (!parent || !next) continue;
    const siblings = branches[parent.row]!;
    siblings.set(parent.token, [next, ...(siblings.get(parent.token) ?? [])]);
  }
  return { advantages, returns };
}

export interface TurnAdvantages extends GeneralizedAdvantages {
  /** [B][T] 1 on the first token of each turn: the states whose values count, and which a critic learns. */
  decisions: Uint8Array[];
}

/**
 * Generalised advantages of turns: a turn is one decision, taken in the state before its first token (as in Turn-PPO, arXiv
 * 2512.17008). Its reward is the sum over its tokens. γ and λ count turns; every token of a turn has the turn's advantage.
 * Returns are on the first token of each turn only.
 * @param turns [B][T] the turn of each token with mask 1. Tokens with mask 1 of no turn (−1) have the turn of the token before.
 */
export function turnGeneralizedAdvantages(
  rewards: TokenValues,
  values: TokenValues,
  mask: readonly Uint8Array[],
  turns: readonly Int32Array[],
  parents: readonly (RowParent | undefined)[],
  options: { gamma: number; lambda: number },
): TurnAdvantages {
  const decisions = mask.map((row) => new Uint8Array(row.length));
  const sums = mask.map((row) => new Float64Array(row.length));
  /** [B][T] the place of the first token of a token's turn. */
  const starts = mask.map((row) => new Int32Array(row.length));
  for (const [b, row] of mask.entries()) {
    let start = -1;
    for (let t = 0; t < row.length; t++) {
      if (row[t] !== 1) continue;
      const turn = turns[b]![t]!;
      if (start === -1 || (turn !== -1 && turn !== turns[b]![start])) start = t;
      decisions[b]![start] = 1;
      starts[b]![t] = start;
      sums[b]![start]! += rewards[b]![t]!;
    }
  }
  const { advantages, returns } = generalizedAdvantages(sums, values, decisions, parents, options);
  return { advantages: atMask(mask, (b, t) => advantages[b]![starts[b]![t]!]!), returns, decisions };
}

function meanOf(branches: readonly Next[]): Next {
  // A path without branches keeps its numbers to the bit.
  if (branches.length === 1) return branches[0]!;
  const sum = { value: 0, advantage: 0 };
  for (const { value, advantage } of branches) {
    sum.value += value;
    sum.advantage += advantage;
  }
  return { value: sum.value / branches.length, advantage: sum.advantage / branches.length };
}
