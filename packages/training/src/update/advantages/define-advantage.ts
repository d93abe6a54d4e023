/** defineAdvantage: an advantage estimator, which says how much better each token did than was to be expected. */
import { type JsonSchema, ToolEnvError, type Trajectory } from '@toolenv/core';
import type { TokenValues } from '@toolenv/core/learner';
import type { TrainerPart } from '@toolenv/core/plugins';
import type { OptionsOf } from '@toolenv/core/schemas';
import { atMask } from '../../rows/averages.ts';
import { parentsOf, type RowParent, type TrainingRow, turnParents } from '../../rows/training-row.ts';
import { type ConfigurablePart, configurable, partOptions } from '../../trainer/trainer-part.ts';

/** What an estimator knows of a rollout of N episodes in B rows. */
export interface AdvantageInputs {
  /** [N] the scored episodes. An episode without rows counts in its group too. */
  trajectories: readonly Trajectory[];
  /** [N] the reward of each episode, with penalties subtracted. */
  scores: readonly number[];
  /** [N] names the group of each episode: the episodes of one task. */
  groups: readonly number[];
  /** [B] all rows of these episodes, in their order. */
  rows: readonly TrainingRow[];
  /** [B] the place of each row's episode in `trajectories`. */
  episodes: readonly number[];
  /** [B] the token that each row goes on from; `undefined` for the first row of an episode. */
  parents: readonly (RowParent | undefined)[];
  /** [B][T] weighted rewards, with penalties subtracted. Those at mask 0 do not count. */
  rewards: TokenValues;
  /** [B][T] 1 where a token gets an advantage. */
  mask: readonly Uint8Array[];
  /** [B][T] what a critic expects before each token, of a trainer that has one. Values at mask 0 do not count. */
  values?: TokenValues;
}

export interface AdvantageDefinition<Schema extends JsonSchema, Options> {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the estimator's own options, which become options of the trainer. A literal gives `estimate` their types. */
  readonly options?: Schema;
  /** The estimator reads `values`, so that its trainer must have a critic. Default false. */
  readonly needsCritic?: boolean;
  /** @returns [B][T] the advantage of each token; values at mask 0 do not count. */
  estimate(inputs: AdvantageInputs, options: Options): TokenValues;
}

/** An advantage estimator: `grpo({ advantage: myEstimator })` uses it. */
export interface AdvantageEstimator extends TrainerPart {
  readonly needsCritic?: boolean;
  estimate(inputs: AdvantageInputs, options: Readonly<Record<string, unknown>>): TokenValues;
}

export function defineAdvantage<const Schema extends JsonSchema, Options = OptionsOf<Schema>>(
  definition: AdvantageDefinition<Schema, Options>,
): ConfigurablePart<AdvantageEstimator, Options> {
  const estimator = { ...definition, options: partOptions(definition.options) };
  return configurable<AdvantageEstimator, Options>(estimator as unknown as AdvantageEstimator);
}

/**
 * What an estimator needs to know.
 * @param trajectories [N] scored episodes.
 * @param rows [B] all of their rows, in order.
 * @param rewards [B][T] the rewards to use, for example with a penalty subtracted.
 * @param mask [B][T] usually the mask of `rows`.
 */
export function advantageInputs(
  trajectories: readonly Trajectory[],
  rows: readonly TrainingRow[],
  rewards: TokenValues,
  mask: readonly Uint8Array[],
): AdvantageInputs {
  const place = new Map(trajectories.map((trajectory, n) => [trajectory, n]));
  const episodes = rows.map(({ trajectory }) => place.get(trajectory)!);
  return {
    trajectories,
    scores: episodeScores(trajectories, rows, episodes, rewards),
    groups: trajectories.map(({ group }) => group),
    rows,
    episodes,
    parents: parentsOf(rows),
    rewards,
    mask,
  };
}

/**
 * [N] Σ r·m of each episode, computed as its reward plus the changes made to it. An unchanged reward stays exact; a sum of
 * float32 rewards would make equal scores unequal. An outcome that several leaves have counts once.
 */
function episodeScores(
  trajectories: readonly Trajectory[],
  rows: readonly TrainingRow[],
  episodes: readonly number[],
  rewards: TokenValues,
): number[] {
  const scores = trajectories.map(({ reward }) => reward!);
  for (const [b, { mask, rewards: placed }] of rows.entries()) {
    for (let t = 0; t < mask.length; t++) {
      if (mask[t] === 1) scores[episodes[b]!]! += rewards[b]![t]! - placed[t]!;
    }
  }
  return scores;
}

/**
 * [B][T] an estimator's advantages; 0 at mask 0.
 * @throws ToolEnvError `bug.advantage` if they have another shape than the rewards, or are not finite.
 */
export function estimateAdvantages(
  estimator: AdvantageEstimator,
  inputs: AdvantageInputs,
  options: Readonly<Record<string, unknown>>,
): Float64Array[] {
  const found = estimator.estimate(inputs, options);
  if (found === undefined)
    throw new ToolEnvError(
      'bug.advantage',
      `The advantage ${estimator.name} returned nothing: return [rows][tokens], such as ofEpisodes(inputs, numbers).`,
    );
  return atMask(inputs.mask, (b, t) => {
    const advantage = found[b]?.[t];
    if (Number.isFinite(advantage)) return advantage!;
    const message = `The advantage ${estimator.name} gives ${advantage} for token ${t} of row ${b}: estimate must return a finite number for each token with mask 1, as [rows][tokens].`;
    throw new ToolEnvError('bug.advantage', message);
  });
}

/** [B][T] the advantage of a token's episode, from `values` [N]; 0 at mask 0. */
export function ofEpisodes(
  { mask, episodes }: Pick<AdvantageInputs, 'mask' | 'episodes'>,
  values: readonly number[],
): Float64Array[] {
  return atMask(mask, (b) => values[episodes[b]!]!);
}

/** [B][T] the advantage of a token's turn, from `values` [N][turns]; 0 at mask 0 and at tokens that belong to no turn. */
export function ofTurns(
  { mask, rows, episodes }: Pick<AdvantageInputs, 'mask' | 'rows' | 'episodes'>,
  values: readonly (readonly number[])[],
): Float64Array[] {
  return atMask(mask, (b, t) => values[episodes[b]!]![rows[b]!.turns[t]!] ?? 0);
}

/** [N][turns] the turns of each episode: Σ r·m of each, and the turn that it goes on from (−1 for the first). */
export function turnsOf(inputs: Pick<AdvantageInputs, 'trajectories' | 'rows' | 'episodes' | 'rewards'>): {
  rewards: number[][];
  parents: number[][];
} {
  const { trajectories, rows, episodes, rewards } = inputs;
  const sums = trajectories.map(({ steps }) => steps.map(() => 0));
  const ofEpisode = trajectories.map((): (typeof rows)[number][] => []);
  for (const [b, row] of rows.entries()) {
    ofEpisode[episodes[b]!]!.push(row);
    for (let t = 0; t < row.mask.length; t++) {
      if (row.mask[t] === 1) sums[episodes[b]!]![row.turns[t]!]! += rewards[b]![t]!;
    }
  }
  return { rewards: sums, parents: ofEpisode.map(turnParents) };
}
