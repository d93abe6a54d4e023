/** The environments of the study, and what a model of 135 million parameters needs in each. */
import {
  arithmetic,
  bank,
  bridge,
  type Demonstrator,
  gsm8k,
  type KindOf,
  kindOfQuestion,
  operationsOf,
  sql,
} from './demonstrators.ts';

export type EnvOptions = Readonly<Record<string, string | number>>;

/** Options that name files of `--data`. */
export type EnvFiles = Readonly<Record<string, string>>;

/** A run's seed decides its tasks. The tasks with this seed test all policies, and no row trains with it. */
export const testSeed = 0;

export interface Test {
  /** Default: the environment that the policy trains in, with its options too. */
  ref?: string;
  options: EnvOptions;
  /** Without `--data`, a test of another environment is left out. */
  files?: EnvFiles;
  /** The number of test tasks, unless `--count` is less. */
  count: number;
}

/** The options are those of training and of its own test. Without `--data`, it finds the tasks of `files` itself. */
export interface RealEnvironment extends Test {
  ref: string;
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
  /** Test tasks are reported by kind too, if they have kinds. */
  // biome-ignore lint/suspicious/noExplicitAny: as above.
  reportedKindOf?: KindOf<any>;
  /** Components of the reward that are reported. The first is the score. */
  components: readonly [score: string, ...others: string[]];
  /** Most tokens of a turn. */
  maxTokens: number;
  /** What a reader must know of its scores. */
  note?: string;
}

const problems: EnvFiles = { path: 'gsm8k/train.jsonl', testPath: 'gsm8k/test.jsonl' };
/** All of them. */
const testProblems = 1319;

export const environments: Readonly<Record<string, RealEnvironment>> = {
  arithmetic: {
    ref: '@toolenv/envs-classic/arithmetic-v1',
    options: {},
    count: 200,
    transfer: {
      'harder tasks': { options: { minSteps: 6, maxSteps: 7 }, count: 200 },
      GSM8K: { ref: '@toolenv/envs-classic/gsm8k-v1', options: {}, files: problems, count: testProblems },
    },
    demonstrator: arithmetic,
    reportedKindOf: operationsOf,
    demonstrations: 150,
    epochs: 6,
    components: ['correct'],
    maxTokens: 96,
  },
  gsm8k: {
    ref: '@toolenv/envs-classic/gsm8k-v1',
    options: {},
    files: problems,
    count: testProblems,
    demonstrator: gsm8k,
    demonstrations: 1000,
    epochs: 1,
    components: ['correct'],
    maxTokens: 128,
    note: 'A turn has at most 128 tokens. 1,155 of the 1,319 answers of the pretrained model were cut there, before they named a number: its score is that of this limit. A step of training takes seven minutes on a core, so GRPO has fewer steps here.',
  },
  sql: {
    ref: '@toolenv/envs-classic/sql-v1',
    // After an error, a policy repeats its query. Four turns are enough for a look, a query and an answer.
    options: { maxRows: 5, maxTurns: 4 },
    count: 200,
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
    count: 200,
    demonstrator: bank,
    demonstrations: 150,
    epochs: 6,
    components: ['database', 'closed'],
    maxTokens: 96,
  },
  lookup: {
    ref: '@toolenv/envs-qa/lookup-v1',
    options: { topK: 1 },
    count: 200,
    demonstrator: bridge,
    demonstrations: 32,
    epochs: 16,
    components: ['em', 'f1'],
    maxTokens: 64,
  },
  bridge: {
    ref: '@toolenv/envs-qa/bridge-v1',
    options: { topK: 1 },
    count: 200,
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

/** Real questions over real passages. All questions of the file are test tasks: no row trains on them. */
function questions(name: 'hotpotqa' | 'musique'): Test {
  const path = `multihop/${name}_train.json`;
  return {
    ref: `@toolenv/envs-qa/${name}-v1`,
    files: { path, testPath: path },
    ...{ options: { topK: 2 }, count: 100 },
  };
}
