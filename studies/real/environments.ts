/** The environments of the study, and what a model of 135 million parameters needs in each. */
import {
  arithmetic,
  bank,
  bridge,
  type Demonstrator,
  type KindOf,
  kindOfQuestion,
  sql,
} from './demonstrators.ts';

export type EnvOptions = Readonly<Record<string, string | number>>;

export interface Test {
  /** Default: the environment itself. */
  ref?: string;
  options: EnvOptions;
  /** A file of `--questions`, which the environment gets as `path`. */
  file?: string;
  /** The number of test tasks, if it is less than `--count`. */
  count?: number;
}

export interface RealEnvironment {
  ref: string;
  /** Options of the environment while it trains, and in the tests. */
  options: EnvOptions;
  /** Other test tasks, on which no row trains. */
  transfer?: Readonly<Record<string, Test>>;
  // biome-ignore lint/suspicious/noExplicitAny: each environment has tasks of its own.
  demonstrator: Demonstrator<any>;
  /** Training tasks with a demonstration. Rewards come from all of them. */
  demonstrations: number;
  /** With it, only the first task of each kind is demonstrated. */
  // biome-ignore lint/suspicious/noExplicitAny: as above.
  kindOf?: KindOf<any>;
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
    demonstrations: 150,
    epochs: 6,
    components: ['correct'],
    maxTokens: 96,
  },
  sql: {
    ref: '@toolenv/envs-classic/sql-v1',
    // After an error, a policy repeats its query. Four turns are enough for a look, a query and an answer.
    options: { maxRows: 5, maxTurns: 4 },
    demonstrator: sql,
    demonstrations: 12,
    kindOf: kindOfQuestion,
    epochs: 32,
    components: ['correct'],
    maxTokens: 128,
  },
  bank: {
    ref: '@toolenv/envs-classic/bank-v1',
    options: {},
    demonstrator: bank,
    demonstrations: 150,
    epochs: 6,
    components: ['database', 'closed'],
    maxTokens: 96,
  },
  bridge: {
    ref: '@toolenv/envs-qa/bridge-v1',
    options: { topK: 1 },
    transfer: {
      HotpotQA: questions('hotpotqa'),
      MuSiQue: questions('musique'),
    },
    demonstrator: bridge,
    demonstrations: 150,
    epochs: 6,
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
