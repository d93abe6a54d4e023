/** What the panel earns beside the oracle, task by task. */

/** Rewards of the tried tasks. `null`: the episode was aborted. */
export type TaskRewards = readonly (number | null)[];

export interface PlayerScore {
  name: string;
  does: string;
  /** Mean reward of the episodes that have a reward; `null` if none has. */
  reward: number | null;
  /** Mean over tasks of how far the reward is from the least of all players (0) to that of the oracle (1). */
  share: number;
  /** Lower end of the 95 % interval of `share`, by the normal approximation. */
  atLeast: number;
}

export interface PanelScores {
  /** Mean reward of the oracle. */
  oracle: number | null;
  /** Tasks in which the oracle earns more than the least of all players. */
  telling: number;
  players: PlayerScore[];
}

export interface NamedRewards {
  name: string;
  does: string;
  rewards: TaskRewards;
}

export function panelScores(oracle: TaskRewards, players: readonly NamedRewards[]): PanelScores {
  const lowest = oracle.map((best, task) => {
    const all = [best, ...players.map(({ rewards }) => rewards[task]!)];
    return Math.min(...all.filter((reward) => reward !== null));
  });
  const spans = oracle.map((best, task) => (best === null ? 0 : best - lowest[task]!));
  const isTelling = spans.map((span) => span > tolerance);
  const scored = players.map(({ name, does, rewards }): PlayerScore => {
    const shares = rewards.flatMap((reward, task) =>
      reward === null || !isTelling[task] ? [] : [(reward - lowest[task]!) / spans[task]!],
    );
    return { name, does, reward: meanOf(rewards.filter((reward) => reward !== null)), ...shareOf(shares) };
  });
  return {
    oracle: meanOf(oracle.filter((reward) => reward !== null)),
    telling: isTelling.filter(Boolean).length,
    players: scored,
  };
}

const tolerance = 1e-6;

function shareOf(shares: readonly number[]): { share: number; atLeast: number } {
  const share = meanOf(shares) ?? 0;
  if (shares.length < 2) return { share, atLeast: share };
  const squares = shares.reduce((sum, value) => sum + (value - share) ** 2, 0);
  return { share, atLeast: share - 1.96 * Math.sqrt(squares / (shares.length - 1) / shares.length) };
}

function meanOf(values: readonly number[]): number | null {
  return values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length;
}
