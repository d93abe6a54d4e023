/** The types of the matchers, which extend Vitest's `expect`. */
import type { ComparisonBounds, ScoreBounds, Scored } from '@toolenv/training';
import type { CheckEnvOptions } from '../env/check-env.ts';
import type { RuleId } from '../rules.ts';

export interface ToolEnvMatchers<Result = void> {
  /**
   * For an evaluation: each mean score is within its bounds, as it is, with the noise that it has:
   * `expect(result).toScore({ em: { atLeast: 0.8 } })`. A metric is a reward component, or `reward`.
   */
  toScore(bounds: Readonly<Record<string, ScoreBounds>>): Result;
  /**
   * For an evaluation: its scores are not worse than those of the baseline by more than chance. Fails only if the whole interval of the
   * difference, paired by task, is below −margin. An agent that did not change fails in at most 0.5 % of all builds.
   */
  toKeepUpWith(baseline: Scored, bounds?: ComparisonBounds): Result;
  /** For an evaluation: its scores are better than those of the baseline by more than chance. The whole interval is above the margin. */
  toBeat(baseline: Scored, bounds?: ComparisonBounds): Result;
  /**
   * For an environment (its definition or reference), or the report of any check: the rules hold. `await expect(env).toPass('ENV-7')`;
   * without rules, all rules hold and nothing warns. Fails if a rule that is named was not checked.
   */
  toPass(rules?: RuleId | readonly RuleId[], options?: CheckEnvOptions): Promise<Result>;
}

declare module 'vitest' {
  // biome-ignore lint/suspicious/noExplicitAny: it must be declared as Vitest declares it.
  interface Matchers<T = any> extends ToolEnvMatchers {}
}
