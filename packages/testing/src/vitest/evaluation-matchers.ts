/** toScore, toKeepUpWith and toBeat: judge an evaluation. */
import { type EnvDefinition, ToolEnvError } from '@toolenv/core';
import {
  type ComparisonBounds,
  comparisonVerdict,
  type ScoreBounds,
  type Scored,
  scoreVerdict,
} from '@toolenv/training/runs';
import { type CheckEnvOptions, checkEnv } from '../env/check-env.ts';
import { type Report, reportText } from '../report.ts';
import { rules as allRules, type RuleId } from '../rules.ts';
import type { EvaluationResult } from './evaluate.ts';

/** They extend Vitest's `expect`. */
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

/** What a matcher of Vitest returns. */
export interface Matched {
  pass: boolean;
  message(): string;
}

export function toScore(received: unknown, bounds: Readonly<Record<string, ScoreBounds>>): Matched {
  const evaluation = evaluationOf('toScore', received);
  const verdicts = Object.entries(bounds).map(([metric, each]) => scoreVerdict(evaluation, metric, each));
  if (verdicts.length === 0) {
    throw new ToolEnvError('usage.matcher', 'toScore: give bounds, such as { em: { atLeast: 0.8 } }.');
  }
  const failed = verdicts.filter(({ passed }) => !passed);
  return matched(failed.length === 0, failed.length === 0 ? verdicts : failed, evaluation);
}

export function toKeepUpWith(received: unknown, baseline: Scored, bounds?: ComparisonBounds): Matched {
  return compared('keepsUp', 'toKeepUpWith', received, baseline, bounds);
}

export function toBeat(received: unknown, baseline: Scored, bounds?: ComparisonBounds): Matched {
  return compared('beats', 'toBeat', received, baseline, bounds);
}

function compared(
  kind: 'keepsUp' | 'beats',
  matcher: string,
  received: unknown,
  baseline: Scored,
  bounds?: ComparisonBounds,
): Matched {
  const evaluation = evaluationOf(matcher, received);
  if (!Array.isArray(Object(baseline).tasks)) {
    const remedy = 'give what evaluate() resolves to, or await readEvaluation(file)';
    throw new ToolEnvError('usage.matcher', `${matcher}: the baseline is not an evaluation: ${remedy}.`);
  }
  const verdict = comparisonVerdict(kind, evaluation, baseline, bounds);
  return matched(verdict.passed, [verdict], evaluation);
}

function evaluationOf(matcher: string, received: unknown): EvaluationResult {
  if (Array.isArray(Object(received).tasks)) return received as EvaluationResult;
  const remedy = 'give what evaluate() of @toolenv/testing/vitest resolves to, and do not forget await';
  throw new ToolEnvError('usage.matcher', `${matcher} judges evaluations: ${remedy}.`);
}

function matched(
  pass: boolean,
  verdicts: readonly { message: string }[],
  { transcripts }: Partial<EvaluationResult>,
): Matched {
  const lines = [
    ...verdicts.map(({ message }) => message),
    ...(transcripts === undefined ? [] : [`Transcripts: ${transcripts}`]),
  ];
  return { pass, message: () => lines.join('\n') };
}

type Subject = Report | EnvDefinition<unknown, unknown> | string;

/** Rules of the spec hold. */
export async function toPass(
  received: unknown,
  rules?: RuleId | readonly RuleId[],
  options: CheckEnvOptions = {},
): Promise<Matched> {
  const wanted = rules === undefined ? undefined : [rules].flat();
  const unknown = wanted?.find((rule) => !Object.hasOwn(allRules, rule));
  if (unknown !== undefined)
    throw new TypeError(`toPass: there is no rule ${unknown}: give one such as ENV-7.`);
  const report = await reportOf((await received) as Subject, wanted, options);
  const findings = report.findings.filter(({ rule }) => wanted?.includes(rule) ?? true);
  const warnings = report.warnings.filter(({ rule }) => wanted?.includes(rule) ?? true);
  const unchecked = (wanted ?? []).flatMap((rule) => {
    const isKnown = rule.startsWith('WARN-') || report.passed.includes(rule);
    if (isKnown || findings.some((finding) => finding.rule === rule)) return [];
    const reason =
      report.skipped.find((each) => each.rule === rule)?.reason ?? 'the check is of another kind';
    return [`${rule} was not checked: ${reason}.`];
  });
  const pass = findings.length + warnings.length + unchecked.length === 0;
  return { pass, message: () => [reportText({ ...report, findings, warnings }), ...unchecked].join('\n') };
}

async function reportOf(
  subject: Subject,
  rules: readonly RuleId[] | undefined,
  options: CheckEnvOptions,
): Promise<Report> {
  if (typeof subject === 'object' && 'findings' in subject) return subject;
  const chosen = rules ? { ...options, rules } : options;
  return typeof subject === 'string' ? checkEnv(subject, chosen) : checkEnv(subject, chosen);
}
