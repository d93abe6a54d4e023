/** The options of a worker: the flags of the command line. */
import { evaluationOptions } from './evaluation-options.ts';

const own = {
  split: { enum: ['train', 'validation', 'test'], default: 'train', description: 'split to play' },
  temperature: { type: 'number', minimum: 0, default: 1, description: 'sampling temperature; 0: greedy' },
  lease: {
    type: 'integer',
    minimum: 1,
    default: 60_000,
    milliseconds: true,
    description: "time without a heartbeat after which other workers take over a worker's groups",
  },
  drain: {
    type: 'integer',
    minimum: 0,
    default: 25_000,
    milliseconds: true,
    description: 'time for episodes to end after SIGTERM or Ctrl-C',
  },
} as const;

const { passScore: _, ...shared } = evaluationOptions.properties;
type Properties = Omit<(typeof evaluationOptions)['properties'], 'passScore' | keyof typeof own> & typeof own;

/** JSON Schema of the options, with defaults. */
export const rolloutOptions: { readonly type: 'object'; readonly properties: Properties } = {
  type: 'object',
  properties: { ...shared, ...own },
};
