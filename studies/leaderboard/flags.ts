/** The flags of `npm run leaderboard`. */
import type { OptionsOf } from '@toolenv/core/schemas';
import { text, whole } from '../../workshop/flags.ts';
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
    seeds: whole('runs of each row, each in its own world (default: those of the study)', {
      maximum: maxSeeds,
    }),
    tune: {
      type: 'boolean',
      default: false,
      description: 'train at several learning rates instead, in a world of their own, to choose from',
    },
    count: whole('test questions of each dataset (default: those of the study, or 256)'),
    rows: text('names of the rows to measure, separated by commas (default: all)', ''),
    threads: whole('CPU threads per operation (default: one per core, or 1 with at-once)'),
    atOnce: whole('rows to measure at once: as many as cores is fastest, but not where time is measured', {
      default: 1,
    }),
    world: whole('measure the rows in this world only, and write no page', { maximum: maxSeeds }),
    results: text('file of the finished runs, which are not repeated', 'docs/benchmarks/leaderboard.jsonl'),
    work: text('folder of the runs; an interrupted run resumes', 'runs/leaderboard'),
    out: text('folder for the page and its chart', 'docs/benchmarks'),
    supervised: text(
      'policy of the row "Best supervised phase"',
      'runs/tiny-policy/bridge-comparison/skills/policy',
    ),
  },
} as const;

export type LeaderboardFlags = OptionsOf<typeof leaderboardFlags>;
