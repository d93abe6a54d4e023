/** The options of PPO, with their defaults; the CLI's flags and help come from this schema. */
import type { JsonSchema } from '@toolenv/core';

export interface PpoOptions {
  steps: number;
  tasksPerStep: number;
  groupSize: number;
  epochs: number;
  miniBatches: number;
  learningRate: number;
  weightDecay: number;
  maxGradNorm: number;
  temperature: number;
  maxTokens: number;
  deadline: number;

  critic: 'shared' | 'separate';
  criticLearningRate: number;
  criticWarmup: number;
  valueClip: number;
  valueCoefficient: number;

  gamma: number;
  lambda: number;
  clip: [number, number];
  delta: number;
  entropyCoefficient: number;
  normaliseProcessRewards: boolean;

  beta: number;
  klControl: 'fixed' | 'adaptive';
  klTarget: number;
  klHorizon: number;

  evaluateEvery: number;
  evaluationEpisodes: number;
  checkpointEvery: number;
  actionMask: boolean;
  advantageMask: boolean;
}

const integer = (minimum: number, value: number, description: string) => ({
  type: 'integer',
  minimum,
  default: value,
  description,
});
const number = (minimum: number, value: number, description: string) => ({
  type: 'number',
  minimum,
  default: value,
  description,
});
const share = (value: number, description: string) => ({ ...number(0, value, description), maximum: 1 });
const above = (minimum: number, value: number, description: string) => ({
  type: 'number',
  exclusiveMinimum: minimum,
  default: value,
  description,
});
const choice = (values: readonly string[], description: string) => ({
  enum: values,
  default: values[0],
  description,
});
const flag = (value: boolean, description: string) => ({ type: 'boolean', default: value, description });

export const ppoOptions: JsonSchema = {
  type: 'object',
  additionalProperties: false,
  properties: {
    steps: integer(1, 100, 'rollouts that are learned from'),
    tasksPerStep: integer(1, 128, 'tasks of a step'),
    groupSize: integer(1, 1, 'episodes of each task'),
    epochs: integer(1, 1, 'times that a rollout is learned from'),
    miniBatches: integer(1, 1, 'optimizer steps of each epoch, each from its share of the rollout'),
    learningRate: number(0, 3e-5, 'of AdamW, for the policy'),
    weightDecay: number(0, 0, 'of AdamW, on matrices'),
    maxGradNorm: number(0, 1, 'gradients of policy and critic are each scaled down to this L2 norm'),
    temperature: number(1e-3, 1, 'of sampling during rollouts'),
    maxTokens: integer(1, 256, 'tokens of one turn at most'),
    deadline: integer(1, 600_000, 'milliseconds of one episode at most'),

    critic: choice(
      ['shared', 'separate'],
      "a value head on the policy's trunk, or a model of its own that begins as a copy of the policy",
    ),
    criticLearningRate: number(0, 3e-4, "of AdamW, for the critic's own parameters"),
    criticWarmup: integer(0, 5, 'steps at first in which only the critic learns'),
    valueClip: above(0, 0.5, 'a value that moved by more than this teaches the critic nothing more'),
    valueCoefficient: number(0, 0.1, 'weight of the value loss beside the policy loss'),

    gamma: share(1, 'discount for each token of the policy'),
    lambda: share(1, 'of generalised advantage estimation: 1 trusts what was seen, 0 the critic'),
    clip: {
      type: 'array',
      items: { type: 'number', minimum: 0 },
      minItems: 2,
      maxItems: 2,
      default: [0.2, 0.2],
      description: 'the ratio is clipped to [1 − low, 1 + high]',
    },
    delta: number(1, 3, 'dual clip: the largest ratio that counts where the advantage is negative'),
    entropyCoefficient: number(0, 0, 'weight of the mean entropy, a bonus'),
    normaliseProcessRewards: flag(
      false,
      'divide process rewards by the largest process return of the batch (PRIME)',
    ),

    beta: number(
      0,
      1e-3,
      'weight of the KL to the policy that training began with, taken out of the reward; 0 is none',
    ),
    klControl: choice(['fixed', 'adaptive'], 'whether that weight stays, or seeks klTarget'),
    klTarget: above(0, 0.1, 'mean KL of a token, in nats, that the adaptive weight seeks'),
    klHorizon: integer(1, 10_000, 'episodes in which the adaptive weight changes by a fifth at most'),

    evaluateEvery: integer(0, 0, 'steps between evaluations on the validation split; 0 is never'),
    evaluationEpisodes: integer(1, 200, 'episodes of one evaluation'),
    checkpointEvery: integer(0, 10, 'steps between checkpoints; 0 is only at the end'),
    actionMask: flag(
      true,
      "for the ablation only: average the losses over the environment's tokens too, as if the policy had written them",
    ),
    advantageMask: flag(
      true,
      "for the ablation only: let returns and advantages run over the environment's tokens too",
    ),
  },
};
