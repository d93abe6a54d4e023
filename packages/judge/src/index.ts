/** @toolenv/judge: language models as judges. */
export { type JudgedEpisode, type JudgeOptions, judge } from './judge.ts';
export { JudgePolicy, type JudgeSettings } from './judge-policy.ts';
export type { JudgeResult } from './judge-v1.ts';
export type { Question } from './question.ts';
export type { Verdict } from './read-verdict.ts';
export type { Scale } from './scale.ts';
