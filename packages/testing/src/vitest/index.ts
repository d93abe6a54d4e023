/** @toolenv/testing/vitest: evaluations in tests. Importing it adds the matchers to Vitest's `expect`. */
import { expect } from 'vitest';
import { toBeat, toKeepUpWith, toPass, toScore } from './evaluation-matchers.ts';

expect.extend({ toScore, toKeepUpWith, toBeat, toPass });

export { type ComparisonBounds, readEvaluation, type ScoreBounds, type Scored } from '@toolenv/training';
export { type EvaluateOptions, type EvaluationResult, evaluate } from './evaluate.ts';
export type { ToolEnvMatchers } from './evaluation-matchers.ts';
