/** The environments of the study, and what a model of 135 million parameters needs in each. */
import { arithmetic, bridge, type Demonstrator, sql } from './demonstrators.ts';

export interface RealEnvironment {
  ref: string;
  /** Options of the environment while it trains, and in the tests. */
  options: Readonly<Record<string, string | number>>;
  /** Options under which held-out tasks are harder than any that were trained on. */
  harder?: Readonly<Record<string, string | number>>;
  // biome-ignore lint/suspicious/noExplicitAny: each environment has tasks of its own.
  demonstrator: Demonstrator<any>;
  /** Training tasks with a demonstration. Rewards come from all of them. */
  demonstrations: number;
  /** The component of the reward that is the score. */
  score: string;
  /** Most tokens of a turn. */
  maxTokens: number;
}

export const environments: Readonly<Record<string, RealEnvironment>> = {
  arithmetic: {
    ref: '@toolenv/envs-classic/arithmetic-v1',
    options: {},
    harder: { minSteps: 6, maxSteps: 7 },
    demonstrator: arithmetic,
    demonstrations: 600,
    score: 'correct',
    maxTokens: 96,
  },
  sql: {
    ref: '@toolenv/envs-classic/sql-v1',
    options: { maxRows: 5 },
    demonstrator: sql,
    demonstrations: 200,
    score: 'correct',
    maxTokens: 128,
  },
  bridge: {
    ref: '@toolenv/envs-qa/bridge-v1',
    options: { topK: 2 },
    demonstrator: bridge,
    demonstrations: 200,
    score: 'em',
    maxTokens: 96,
  },
};
