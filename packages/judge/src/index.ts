/** @toolenv/judge: language models as judges. */
export { type JudgedEpisode, type JudgeOptions, judge } from './judge.ts';
export { type GivenVerdict, JudgePolicy, type JudgeSettings } from './judge-policy.ts';
export { type JudgedText, type JudgeResult, judgeTool } from './judge-v1.ts';
export type { NamedText, Question } from './question.ts';
export type { Verdict } from './read-verdict.ts';
export type { Scale } from './scale.ts';
