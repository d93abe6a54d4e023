/** @toolenv/testing/vitest: evaluations in tests. Importing it adds the matchers to Vitest's `expect`. */
import { expect } from 'vitest';
import { toBeat, toKeepUpWith, toPass, toScore } from './evaluation-matchers.ts';

expect.extend({ toScore, toKeepUpWith, toBeat, toPass });

export { readEvaluation } from '@toolenv/training';
export type { ComparisonBounds, ScoreBounds, Scored } from '@toolenv/training/runs';
export { type EvaluateOptions, type EvaluationResult, evaluate } from './evaluate.ts';
export type { ToolEnvMatchers } from './evaluation-matchers.ts';
