/** The environments of the study, and what a model of 135 million parameters needs in each. */
import { arithmetic, bridge, type Demonstrator, sql } from './demonstrators.ts';

export interface Test {
  /** Default: the environment itself. */
  ref?: string;
  options: Readonly<Record<string, string | number>>;
  /** A file of `--questions`, which the environment gets as `path`. */
  file?: string;
  /** The number of test tasks, if it is less than `--count`. */
  count?: number;
}

export interface RealEnvironment {
  ref: string;
  /** Options of the environment while it trains, and in the tests. */
  options: Readonly<Record<string, string | number>>;
  /** Other test tasks, on which no row trains. */
  transfer?: Readonly<Record<string, Test>>;
  // biome-ignore lint/suspicious/noExplicitAny: each environment has tasks of its own.
  demonstrator: Demonstrator<any>;
  /** Training tasks with a demonstration. Rewards come from all of them. */
  demonstrations: number;
  /** Passes over the demonstrations. After too few, a policy errs far more often when it samples than when it is greedy. */
  epochs: number;
  /** Components of the reward that are reported. The first is the score. */
  components: readonly [score: string, ...others: string[]];
  /** Most tokens of a turn. */
  maxTokens: number;
}

export const environments: Readonly<Record<string, RealEnvironment>> = {
  arithmetic: {
    ref: '@toolenv/envs-classic/arithmetic-v1',
    options: {},
    transfer: { 'harder tasks': { options: { minSteps: 6, maxSteps: 7 } } },
    demonstrator: arithmetic,
    demonstrations: 600,
    epochs: 1,
    components: ['correct'],
    maxTokens: 96,
  },
  sql: {
    ref: '@toolenv/envs-classic/sql-v1',
    // After an error, a policy repeats its query. Four turns are enough for a look, a query and an answer.
    options: { maxRows: 5, maxTurns: 4 },
    demonstrator: sql,
    demonstrations: 16,
    epochs: 24,
    components: ['correct'],
    maxTokens: 128,
  },
  bridge: {
    ref: '@toolenv/envs-qa/bridge-v1',
    options: { topK: 2 },
    transfer: {
      HotpotQA: questions('hotpotqa'),
      MuSiQue: questions('musique'),
    },
    demonstrator: bridge,
    demonstrations: 200,
    epochs: 3,
    components: ['em', 'f1'],
    maxTokens: 96,
  },
};

/** Real questions over real passages. */
function questions(name: 'hotpotqa' | 'musique'): Test {
  return {
    ref: `@toolenv/envs-qa/${name}-v1`,
    file: `${name}_train.json`,
    ...{ options: { topK: 2 }, count: 100 },
  };
}
