/** The flags of `npm run table`. */
import type { JsonSchema } from '@toolenv/core';

export interface TableFlags {
  policy: string;
  seeds: number;
  steps: number;
  count: number;
  rows: string;
  work: string;
  out: string;
}

export const tableFlags: JsonSchema = {
  type: 'object',
  properties: {
    policy: {
      type: 'string',
      default: 'workshop/tiny-policy/checkpoint-all',
      description: 'Hugging Face folder to begin with',
    },
    seeds: {
      type: 'integer',
      minimum: 1,
      default: 3,
      description: 'runs of each row, in worlds of their own',
    },
    steps: { type: 'integer', minimum: 1, default: 30, description: 'rollouts that each agent learns from' },
    count: { type: 'integer', minimum: 1, default: 256, description: 'test questions of each dataset' },
    rows: {
      type: 'string',
      default: '',
      description: 'names of the rows to play, with commas between (default: all)',
    },
    work: {
      type: 'string',
      default: 'runs/table',
      description: 'folder of the runs; what is finished there is not done again',
    },
    out: {
      type: 'string',
      default: 'docs/benchmarks',
      description: 'folder for table.md, table.json and table.svg',
    },
  },
};
