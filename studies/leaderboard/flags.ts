/** The flags of `npm run leaderboard`. */
import type { OptionsOf } from '@toolenv/core/schemas';
import { maxSeeds } from '../shared/intervals.ts';

export const leaderboardFlags = {
  type: 'object',
  properties: {
    study: {
      enum: ['table', 'masks', 'budget', 'price', 'staleness', 'failures'],
      default: 'table',
      description:
        'what to measure: all agents, what the masks do, trainers with the same episodes, a price for searching, rollouts that run ahead, or a search that fails',
    },
    seeds: {
      type: 'integer',
      minimum: 1,
      maximum: maxSeeds,
      description: 'runs of each row, each in its own world (default: those of the study)',
    },
    tune: {
      type: 'boolean',
      default: false,
      description: 'train at several learning rates instead, in a world of their own, to choose from',
    },
    count: {
      type: 'integer',
      minimum: 1,
      description: 'test questions of each dataset (default: those of the study, or 256)',
    },
    rows: {
      type: 'string',
      default: '',
      description: 'names of the rows to measure, separated by commas (default: all)',
    },
    threads: {
      type: 'integer',
      minimum: 1,
      description: 'CPU threads per operation (default: one per core, or 1 with at-once)',
    },
    atOnce: {
      type: 'integer',
      minimum: 1,
      default: 1,
      description: 'rows to measure at once: as many as cores is fastest, but not where time is measured',
    },
    world: {
      type: 'integer',
      minimum: 1,
      maximum: maxSeeds,
      description: 'measure the rows in this world only, and write no page',
    },
    results: {
      type: 'string',
      default: 'docs/benchmarks/leaderboard.jsonl',
      description: 'file of the finished runs, which are not repeated',
    },
    work: {
      type: 'string',
      default: 'runs/leaderboard',
      description: 'folder of the runs; an interrupted run resumes',
    },
    out: { type: 'string', default: 'docs/benchmarks', description: 'folder for the page and its chart' },
    supervised: {
      type: 'string',
      default: 'runs/tiny-policy/bridge-comparison/skills/policy',
      description: 'policy of the row "Best supervised phase"',
    },
  },
} as const;

export type LeaderboardFlags = OptionsOf<typeof leaderboardFlags>;
