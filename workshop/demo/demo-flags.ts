/** The demo's flags. */
import type { JsonSchema } from '@toolenv/core';

export interface DemoFlags {
  seed: number;
  steps: number;
  policy: string;
  loraRank: number;
  control: 'none' | 'shuffled-rewards';
  out: string;
  json: boolean;
}

export const demoFlags: JsonSchema = {
  type: 'object',
  properties: {
    seed: {
      type: 'integer',
      minimum: 0,
      default: 1,
      description: 'of the world, the questions and the sampling',
    },
    steps: { type: 'integer', minimum: 1, default: 80, description: 'optimizer steps' },
    policy: {
      type: 'string',
      default: 'workshop/tiny-policy/checkpoint',
      description: 'Hugging Face folder to begin with',
    },
    loraRank: {
      type: 'integer',
      minimum: 0,
      default: 0,
      description: 'train LoRA adapters of this rank instead of every weight',
    },
    control: {
      enum: ['none', 'shuffled-rewards'],
      default: 'none',
      description: 'shuffled-rewards deals the rewards out at random: then nothing should be learned',
    },
    out: {
      type: 'string',
      default: 'runs/demo',
      description: 'folder; what an earlier demo wrote there is replaced',
    },
    json: { type: 'boolean', default: false, description: 'print the summary as JSON, and nothing else' },
  },
};
