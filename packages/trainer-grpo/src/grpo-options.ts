/** The options of GRPO, with their defaults; the CLI's flags and help come from this schema. */
import type { JsonSchema } from '@toolenv/core';

export interface GrpoOptions {
  steps: number;
  questionsPerStep: number;
  groupSize: number;
  learningRate: number;
  weightDecay: number;
  maxGradNorm: number;
  temperature: number;
  maxTokens: number;
  deadline: number;
  clip: [number, number];
  beta: number;
  average: 'sequence' | 'token';
  evaluateEvery: number;
  evaluationEpisodes: number;
  checkpointEvery: number;
  control: 'none' | 'shuffled-rewards';
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

export const grpoOptions: JsonSchema = {
  type: 'object',
  additionalProperties: false,
  properties: {
    steps: integer(1, 100, 'optimizer steps'),
    questionsPerStep: integer(1, 16, 'tasks of a step'),
    groupSize: integer(2, 8, 'episodes of each task, compared with each other'),
    learningRate: number(0, 3e-4, 'of AdamW'),
    weightDecay: number(0, 0, 'of AdamW, on matrices'),
    maxGradNorm: number(0, 1, 'gradients are scaled down to this L2 norm'),
    temperature: number(1e-3, 1, 'of sampling during rollouts'),
    maxTokens: integer(1, 256, 'tokens of one turn at most'),
    deadline: integer(1, 600_000, 'milliseconds of one episode at most'),
    clip: {
      type: 'array',
      items: { type: 'number', minimum: 0 },
      minItems: 2,
      maxItems: 2,
      default: [0.2, 0.2],
      description: 'the ratio is clipped to [1 − low, 1 + high]',
    },
    beta: number(0, 0, 'weight of the KL penalty (k3) towards the policy that training began with'),
    average: { enum: ['sequence', 'token'], default: 'token', description: 'how the loss is averaged' },
    evaluateEvery: integer(0, 0, 'steps between evaluations on the validation split; 0 is never'),
    evaluationEpisodes: integer(1, 200, 'episodes of one evaluation'),
    checkpointEvery: integer(0, 10, 'steps between checkpoints; 0 is only at the end'),
    control: {
      enum: ['none', 'shuffled-rewards'],
      default: 'none',
      description: 'shuffled-rewards deals the rewards out at random, to show that learning needs them',
    },
  },
};
