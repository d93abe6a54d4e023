/** The recipes: the phases of supervised training, and what follows. */
import type { ModelConfig } from '@toolenv/policy';
import type { Family } from './families.ts';
import type { LibraryName } from './library/library.ts';
import type { Mix } from './strategies.ts';

/** Exercises, or demonstrations of a family of questions or of an environment. */
export type Source = 'copies' | 'readings' | 'comparisons' | 'tools' | Family | LibraryName;
/** Number of lines from each source in a batch. */
export type Batch = Partial<Record<Source, number>>;

export interface Phase {
  name: string;
  steps: number;
  learningRate: number;
  /** Steps in which the learning rate rises. Then it falls as a cosine. */
  warmUp: number;
  batch: Batch;
  /** Passes over the data, of which each has `steps / passes` batches. Default 1. */
  passes?: number;
  /** Strategies of the demonstrations. */
  mix: Mix;
  /** Whether players of environments are hasty. */
  isHasty?: boolean;
  /** Turns of an episode, if there are more than the family allows. */
  maxTurns?: number;
}

export interface Recipe {
  families: readonly Family[];
  /** Folder of the policy that the first phase begins with. Default: random weights. */
  start?: string;
  /** Whether reading exercises write facts down (`X: 1984.`), as comparisons require. */
  facts: boolean;
  phases: readonly Phase[];
  /** Environments that the policy learns besides the families. Then the tokenizer has their words, and a fifth of all goals is left out. */
  library?: readonly LibraryName[];
  /** What is different from the model of the tiny policy. */
  shape?: Partial<ModelConfig>;
  /** Flags of the GRPO run that follows. Default: none follows. */
  reinforce?: Readonly<Record<string, string | number>>;
  /** Folder of the shipped policy, from this folder. */
  folder?: string;
}

const libraryNames = ['arithmetic', 'household', 'bank', 'sql', 'wordle', 'safe'] as const;

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
  isHasty: true,
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

/** The habits of a student that seldom solves the task, so that rewards say little at first. */
const seldomRight: Mix = { ...habits.mix, followHops: 0.05, stopAfterOneHop: 0.75 };

const bridge: readonly Phase[] = [
  copying,
  { ...reading, steps: 1600, batch: { copies: 4, readings: 16 } },
  { ...skills, steps: 1200, batch: { copies: 2, readings: 4, bridge: 16 } },
  { ...habits, batch: { bridge: 32 } },
];

/** Right in the end, and wasteful: demonstrators who do not know what a search costs. */
const waste: Phase = {
  name: 'waste',
  steps: 900,
  learningRate: 1e-3,
  warmUp: 50,
  batch: { 'one-hop claims': 6, 'two-hop claims': 10, 'three-hop claims': 16 },
  mix: { repeatSearches: 0.85, guess: 0.15 },
  maxTurns: 8,
};

/** Demonstrators who check a claim or guess, whatever the claim. */
const choices: Phase = {
  ...waste,
  name: 'choices',
  steps: 200,
  learningRate: 4e-4,
  warmUp: 20,
  batch: { 'one-hop claims': 8, 'two-hop claims': 8, 'three-hop claims': 16 },
  mix: { followHops: 0.6, guess: 0.4 },
};

/** The strategies of the demonstrators that the start of the study of a price imitated last. */
export const habitualMix: Mix = choices.mix;

/**
 * `bridge`, for the demo: two-hop questions. `bridge-comparison`, for the leaderboard: a model of the same size, which no phase
 * shows a compose question. `price`, for the study of a price for searching: that model, which checks claims or guesses. `from-nothing`:
 * `bridge` and then GRPO, which unlearns the bad habits. `quarter`, for distillation: a student with a quarter of the parameters.
 * `library`, for every environment of the library: the small policy.
 */
export const recipeNames = [
  'bridge',
  'bridge-comparison',
  'price',
  'from-nothing',
  'quarter',
  'library',
] as const;

export const recipes: Readonly<Record<(typeof recipeNames)[number], Recipe>> = {
  bridge: {
    families: ['bridge'],
    facts: false,
    phases: bridge,
    folder: '../../packages/checkpoints/tiny',
  },
  'bridge-comparison': {
    families: ['bridge', 'comparison'],
    facts: true,
    phases: [
      copying,
      { ...reading, steps: 2000, batch: { copies: 4, readings: 14, comparisons: 6 } },
      {
        ...skills,
        steps: 2400,
        batch: { copies: 2, readings: 3, comparisons: 3, bridge: 8, comparison: 8 },
      },
      { ...habits, batch: { bridge: 18, comparison: 14 } },
    ],
    folder: '../../studies/table/checkpoint',
  },
  price: {
    families: ['one-hop claims', 'two-hop claims', 'three-hop claims'],
    facts: true,
    start: '../../studies/table/checkpoint',
    phases: [waste, choices],
    folder: '../../studies/price/checkpoint',
  },
  'from-nothing': {
    families: ['bridge'],
    facts: false,
    phases: bridge,
    reinforce: {
      steps: 80,
      'tasks-per-step': 16,
      'group-size': 8,
      'learning-rate': 3e-5,
      beta: 0.1,
      'max-tokens': 64,
      'evaluate-every': 20,
      'evaluation-episodes': 200,
    },
  },
  quarter: {
    families: ['bridge'],
    facts: false,
    shape: {
      hidden_size: 96,
      intermediate_size: 76,
      num_hidden_layers: 3,
      num_attention_heads: 3,
      num_key_value_heads: 1,
    },
    phases: [
      { ...copying, steps: 1500, learningRate: 2.5e-3 },
      ...bridge.slice(1, 3),
      { ...habits, learningRate: 3e-4, batch: { bridge: 32 }, mix: seldomRight },
    ],
  },
  library: {
    families: ['lookup', 'bridge'],
    library: libraryNames,
    folder: '../../packages/checkpoints/small',
    facts: false,
    shape: { max_position_embeddings: 2048 },
    phases: [
      { ...copying, steps: 1000 },
      {
        ...skills,
        steps: 2400,
        passes: 2,
        learningRate: 2e-3,
        warmUp: 100,
        batch: {
          copies: 2,
          readings: 6,
          tools: 2,
          lookup: 3,
          bridge: 3,
          arithmetic: 4,
          household: 4,
          bank: 3,
          sql: 3,
          wordle: 8,
          safe: 3,
        },
      },
      {
        ...habits,
        batch: { lookup: 4, bridge: 4, arithmetic: 4, household: 6, bank: 4, sql: 4, wordle: 8, safe: 6 },
      },
    ],
  },
};
