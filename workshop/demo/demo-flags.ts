/** The demo's flags. */
import type { OptionsOf } from '@toolenv/core/schemas';

export const demoFlags = {
  type: 'object',
  properties: {
    seed: {
      type: 'integer',
      minimum: 0,
      default: 1,
      description: 'seeds the world, the questions and the sampling',
    },
    steps: { type: 'integer', minimum: 1, default: 80, description: 'optimizer steps' },
    heldOut: {
      type: 'integer',
      minimum: 1,
      default: 256,
      description: 'held-out questions, answered before and after training, greedily and by sampling',
    },
    policy: {
      type: 'string',
      default: 'packages/checkpoints/tiny',
      description: 'Hugging Face folder to start from',
    },
    loraRank: {
      type: 'integer',
      minimum: 0,
      default: 0,
      description: 'train LoRA adapters of this rank instead of every weight',
    },
    shuffleRewards: {
      type: 'boolean',
      default: false,
      description: 'control experiment: permute the rewards of each step; the policy should not improve',
    },
    out: {
      type: 'string',
      default: 'runs/demo',
      description: 'folder for the results; replaces those of an earlier demo',
    },
    record: {
      type: 'string',
      description:
        'also keep the scores in this file of JSON lines; docs/benchmarks/demo.jsonl has those of the README',
    },
    json: { type: 'boolean', default: false, description: 'print only the summary, as JSON' },
  },
} as const;

export type DemoFlags = OptionsOf<typeof demoFlags>;
