/** The recipes: what each phase of the supervised warm-up is made of. */
import type { Mix } from './strategies.ts';

export type Family = 'bridge' | 'comparison' | 'compose';

/** What a batch is made of, in rows. */
export interface Batch {
  copies?: number;
  readings?: number;
  comparisons?: number;
  /** Demonstrations of each family of questions. */
  bridge?: number;
  comparison?: number;
  compose?: number;
}

export interface Phase {
  name: string;
  steps: number;
  learningRate: number;
  /** Steps over which the learning rate rises; then it falls as a cosine. */
  warmUp: number;
  batch: Batch;
  /** Strategies of the demonstrations. */
  mix: Mix;
}

export interface Recipe {
  families: readonly Family[];
  /** Whether reading exercises keep facts (`X: 1984.`), which comparisons need. */
  facts: boolean;
  phases: readonly Phase[];
}

const copying: Phase = {
  name: 'copying',
  steps: 500,
  learningRate: 2e-3,
  warmUp: 100,
  batch: { copies: 32 },
  mix: {},
};
const reading = { name: 'reading', learningRate: 2e-3, warmUp: 100, mix: {} };
const skills = { name: 'skills', learningRate: 1e-3, warmUp: 50, mix: { followHops: 1 } };
const habits = {
  name: 'habits',
  steps: 100,
  learningRate: 1e-4,
  warmUp: 10,
  mix: {
    followHops: 0.12,
    stopAfterOneHop: 0.68,
    searchWholeQuestion: 0.05,
    followWrongEntity: 0.1,
    giveUp: 0.05,
  },
};

/** `bridge` is the demo's: two hops, done well. `all` is the table's: every family, as well as the same size can. */
export const recipes: Readonly<Record<'bridge' | 'all', Recipe>> = {
  bridge: {
    families: ['bridge'],
    facts: false,
    phases: [
      copying,
      { ...reading, steps: 1600, batch: { copies: 4, readings: 16 } },
      { ...skills, steps: 1200, batch: { copies: 2, readings: 4, bridge: 16 } },
      { ...habits, batch: { bridge: 32 } },
    ],
  },
  all: {
    families: ['bridge', 'comparison', 'compose'],
    facts: true,
    phases: [
      copying,
      { ...reading, steps: 2000, batch: { copies: 4, readings: 14, comparisons: 6 } },
      {
        ...skills,
        steps: 2400,
        batch: { copies: 2, readings: 3, comparisons: 3, bridge: 6, comparison: 6, compose: 4 },
      },
      { ...habits, batch: { bridge: 14, comparison: 10, compose: 8 } },
    ],
  },
};
