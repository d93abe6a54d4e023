/** The demo's flags. */
import type { OptionsOf } from '@toolenv/core/schemas';
import { text, whole } from '../flags.ts';

export const demoFlags = {
  type: 'object',
  properties: {
    seed: whole('seeds the world, the questions and the sampling', { minimum: 0, default: 1 }),
    steps: whole('optimizer steps', { default: 80 }),
    heldOut: whole('held-out questions, answered before and after training, greedily and by sampling', {
      default: 256,
    }),
    policy: text('Hugging Face folder to start from', 'packages/checkpoints/tiny'),
    loraRank: whole('train LoRA adapters of this rank instead of every weight', { minimum: 0, default: 0 }),
    shuffleRewards: {
      type: 'boolean',
      default: false,
      description: 'control experiment: permute the rewards of each step; the policy should not improve',
    },
    out: text('folder for the results; replaces those of an earlier demo', 'runs/demo'),
    record: {
      type: 'string',
      description:
        'also keep the scores in this file of JSON lines; docs/benchmarks/demo.jsonl has those of the README',
    },
    json: { type: 'boolean', default: false, description: 'print only the summary, as JSON' },
  },
} as const;

export type DemoFlags = OptionsOf<typeof demoFlags>;
