/** The options of GRPO and its family, with their defaults; the CLI's flags and help come from this schema. */
import type { JsonSchema } from '@toolenv/core';
import type { AdvantageOptions } from './advantages.ts';
import { type Algorithm, type AlgorithmOptions, algorithms } from './algorithms.ts';
import type { KlEstimator } from './kl-penalty.ts';
import type { LossType } from './row-weights.ts';
import type { MismatchCorrection } from './sampler-mismatch.ts';

/** What has no default in the schema has the algorithm's. */
export interface GrpoOptions {
  algorithm: Algorithm;
  steps: number;
  tasksPerStep: number;
  groupSize: number;
  epochs: number;
  miniBatches: number;
  staleness: number;
  learningRate: number;
  weightDecay: number;
  maxGradNorm: number;
  temperature: number;
  maxTokens: number;
  deadline: number;

  advantage?: AdvantageOptions['advantage'];
  scaleRewards?: AdvantageOptions['scaleRewards'];
  credit: AdvantageOptions['credit'];
  gamma: number;
  normaliseProcessRewards: boolean;
  zeroVariance?: 'drop' | 'keep' | 'resample';
  maxResamples: number;
  truncated?: 'learn' | 'mask';

  loss?: LossType;
  ratioLevel?: 'token' | 'sequence';
  clip?: readonly [number, number];
  delta?: number;
  ratioCap: number;
  sapoTemperatures: [number, number];
  maxCompletionLength?: number;

  beta?: number;
  klIn?: 'loss' | 'reward';
  klEstimator?: KlEstimator;
  klClamp: number;
  entropyCoefficient: number;
  topEntropyQuantile: number;
  mismatchCorrection?: 'none' | MismatchCorrection;
  mismatchCap: number;
  offPolicyThreshold?: number;

  evaluateEvery: number;
  evaluationEpisodes: number;
  checkpointEvery: number;
  control: 'none' | 'shuffled-rewards';
  actionMask: boolean;
  advantageMask: boolean;
}

/** A whole number from `minimum` up; without a value it has no default here. */
const integer = (minimum: number, value: number | undefined, description: string) => ({
  type: 'integer',
  minimum,
  ...(value !== undefined && { default: value }),
  description,
});
const number = (minimum: number, value: number | undefined, description: string) => ({
  type: 'number',
  minimum,
  ...(value !== undefined && { default: value }),
  description,
});
const pair = (minimum: number, value: number[] | undefined, description: string) => ({
  type: 'array',
  items: { type: 'number', minimum },
  minItems: 2,
  maxItems: 2,
  ...(value !== undefined && { default: value }),
  description,
});
const choice = (values: readonly string[], value: string | undefined, description: string) => ({
  enum: values,
  ...(value !== undefined && { default: value }),
  description,
});
const flag = (value: boolean, description: string) => ({ type: 'boolean', default: value, description });

/** The values that the algorithms have of an option, as help shows defaults. */
function byAlgorithm(option: keyof AlgorithmOptions): string {
  const textOf = (options: AlgorithmOptions) => String(options[option] ?? 'none');
  const usual = textOf(algorithms.grpo);
  const others = Object.entries(algorithms).filter(([, options]) => textOf(options) !== usual);
  const exceptions = others.map(([name, options]) => `; ${textOf(options)} in ${name}`);
  return `(default: ${usual}${exceptions.join('')})`;
}

export const grpoOptions: JsonSchema = {
  type: 'object',
  additionalProperties: false,
  properties: {
    algorithm: choice(
      Object.keys(algorithms),
      'grpo',
      'sets advantage, loss and their options; each can still be given',
    ),
    steps: integer(1, 100, 'rollouts that are learned from'),
    tasksPerStep: integer(1, 16, 'tasks of a step'),
    groupSize: integer(2, 8, 'episodes of each task, compared with each other'),
    epochs: integer(1, 1, 'times that a rollout is learned from'),
    miniBatches: integer(1, 1, 'optimizer steps of each epoch, each from its share of the rollout'),
    staleness: integer(
      0,
      0,
      'updates that a rollout may be behind: as many are played ahead, so that slow tools do not hold up learning',
    ),
    learningRate: number(0, 3e-4, 'of AdamW'),
    weightDecay: number(0, 0, 'of AdamW, on matrices'),
    maxGradNorm: number(0, 1, 'gradients are scaled down to this L2 norm'),
    temperature: number(1e-3, 1, 'of sampling during rollouts'),
    maxTokens: integer(1, 256, 'tokens of one turn at most'),
    deadline: integer(1, 600_000, 'milliseconds of one episode at most'),

    advantage: choice(
      ['grpo', 'rloo', 'reinforce++', 'reinforce++-baseline'],
      undefined,
      `how episodes or tokens are compared ${byAlgorithm('advantage')}`,
    ),
    scaleRewards: choice(
      ['group', 'batch', 'none'],
      undefined,
      `whose deviation divides the advantage grpo ${byAlgorithm('scaleRewards')}`,
    ),
    credit: choice(
      ['episode', 'turn'],
      'episode',
      'what the advantages grpo and rloo are of: whole episodes, or what came after each turn',
    ),
    gamma: number(0, 1, 'discount for each token of the policy, in the advantage reinforce++'),
    normaliseProcessRewards: flag(
      false,
      'divide process rewards by the largest process return of the batch (PRIME)',
    ),
    zeroVariance: choice(
      ['drop', 'keep', 'resample'],
      undefined,
      `groups whose episodes all scored the same: leave them out of the averages unless a penalty or bonus pulls, keep them, or play others in their place as DAPO does ${byAlgorithm('zeroVariance')}`,
    ),
    maxResamples: integer(1, 3, 'times that resample plays others'),
    truncated: choice(
      ['learn', 'mask'],
      undefined,
      `whether episodes that were cut short are learned from, or left out ${byAlgorithm('truncated')}`,
    ),

    loss: choice(
      ['grpo', 'bnpo', 'dr_grpo', 'dapo', 'cispo', 'sapo'],
      undefined,
      `the surrogate and its average: of rows (grpo, sapo), over a constant length (dr_grpo), of tokens (the others) ${byAlgorithm('loss')}`,
    ),
    ratioLevel: choice(
      ['token', 'sequence'],
      undefined,
      `what the importance ratio is of; sequence is GSPO ${byAlgorithm('ratioLevel')}`,
    ),
    clip: pair(0, undefined, `the ratio is clipped to [1 − low, 1 + high] ${byAlgorithm('clip')}`),
    delta: number(
      1,
      undefined,
      `dual clip: the largest ratio that counts where the advantage is negative; 3 is usual ${byAlgorithm('delta')}`,
    ),
    ratioCap: number(0, 5, 'the largest weight of a token in cispo'),
    sapoTemperatures: pair(0, [1, 1.05], 'of sapo, where the advantage is positive and where it is not'),
    maxCompletionLength: integer(1, undefined, 'tokens that dr_grpo divides a row by (default: maxTokens)'),

    beta: number(
      0,
      undefined,
      `weight of the KL to the policy that training began with ${byAlgorithm('beta')}`,
    ),
    klIn: choice(
      ['loss', 'reward'],
      undefined,
      `whether the KL is added to the loss or taken out of the reward ${byAlgorithm('klIn')}`,
    ),
    klEstimator: choice(
      ['k1', 'k2', 'k3'],
      undefined,
      `how the KL is estimated ${byAlgorithm('klEstimator')}`,
    ),
    klClamp: number(0, 10, "a token's KL counts for no more than this"),
    entropyCoefficient: number(0, 0, 'weight of the mean entropy, a bonus'),
    topEntropyQuantile: {
      ...number(0, 1, 'share of the tokens, those of the highest entropy, that the policy gradient is of'),
      maximum: 1,
    },
    mismatchCorrection: choice(
      ['none', 'token_truncate', 'token_mask', 'sequence_truncate', 'sequence_mask'],
      undefined,
      'weighs tokens by learner over sampler probability: capped (TIS), or left out beyond the cap (default: none, with staleness token_truncate)',
    ),
    mismatchCap: number(1, 3, 'the largest such weight'),
    offPolicyThreshold: number(
      0,
      undefined,
      'leave out bad tokens of rows whose log-probability fell by more than this a token (default: never)',
    ),

    evaluateEvery: integer(0, 0, 'steps between evaluations on the validation split; 0 is never'),
    evaluationEpisodes: integer(1, 200, 'episodes of one evaluation'),
    checkpointEvery: integer(0, 10, 'steps between checkpoints; 0 is only at the end'),
    control: choice(
      ['none', 'shuffled-rewards'],
      'none',
      'shuffled-rewards deals the rewards out at random, to show that learning needs them',
    ),
    actionMask: flag(
      true,
      "for the ablation only: average the loss over the environment's tokens too, as if the policy had written them",
    ),
    advantageMask: flag(
      true,
      "for the ablation only: let returns and advantages run over the environment's tokens too",
    ),
  },
};
