/** The flags of `npm run leaderboard`. */
import type { OptionsOf } from '@toolenv/core/schemas';

export const leaderboardFlags = {
  type: 'object',
  properties: {
    policy: {
      type: 'string',
      default: 'workshop/tiny-policy/checkpoint-all',
      description: 'Hugging Face folder to start from',
    },
    seeds: {
      type: 'integer',
      minimum: 1,
      default: 3,
      description: 'runs of each row, each in its own world',
    },
    steps: { type: 'integer', minimum: 1, default: 30, description: 'training steps of each agent' },
    count: { type: 'integer', minimum: 1, default: 256, description: 'test questions of each dataset' },
    rows: {
      type: 'string',
      default: '',
      description: 'names of the rows to measure, separated by commas (default: all)',
    },
    work: {
      type: 'string',
      default: 'runs/leaderboard',
      description: 'folder of the runs; finished runs in it are not repeated',
    },
    out: {
      type: 'string',
      default: 'docs/benchmarks',
      description: 'folder for table.md, table.json and table.svg',
    },
  },
} as const;

export type LeaderboardFlags = OptionsOf<typeof leaderboardFlags>;
