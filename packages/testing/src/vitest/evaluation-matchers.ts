/** toScore, toKeepUpWith and toBeat: judge an evaluation. */
import { ToolEnvError } from '@toolenv/core';
import {
  type ComparisonBounds,
  comparisonVerdict,
  type ScoreBounds,
  type Scored,
  scoreVerdict,
} from '@toolenv/training';
import type { EvaluationResult } from './evaluate.ts';

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
