/** Whether a skill helps: the paired difference from the first skill, at a confidence that equal skills hardly ever pass. */
import type { Evaluation } from '@toolenv/training';
import { compareEvaluations, type Scored, scoredMetric } from '@toolenv/training/runs';
import { scoreText } from '../display/number-text.ts';
import { safeLine } from '../display/terminal-text.ts';

/** Two equal skills are told apart in at most one of 200 comparisons. */
export const skillConfidence = 0.995;

export interface SkillVerdict {
  policy: string;
  skill: string;
  /** The skill that it is compared with. */
  against: string;
  metric: string;
  verdict: 'better' | 'worse' | 'no difference beyond chance';
  /** Mean over tasks of the score with the skill minus the score with the other; `null` without a common task. */
  difference: number | null;
  interval: readonly [low: number, high: number] | null;
}

/** Each policy with each further skill, beside the same policy with its first. */
export function compareSkills(
  entrants: readonly { policy: string; skill?: string }[],
  evaluated: readonly { evaluation: Evaluation }[],
): SkillVerdict[] {
  return entrants.flatMap(({ policy, skill }, index): SkillVerdict[] => {
    const first = entrants.findIndex((each) => each.policy === policy);
    const against = entrants[first]!.skill;
    if (skill === undefined || against === undefined || first === index) return [];
    return [
      { policy, skill, against, ...skillVerdict(evaluated[index]!.evaluation, evaluated[first]!.evaluation) },
    ];
  });
}

export function skillVerdict(
  evaluation: Scored,
  baseline: Scored,
): Pick<SkillVerdict, 'metric' | 'verdict' | 'difference' | 'interval'> {
  const metric = scoredMetric(undefined, Object.keys(evaluation.tasks[0]?.scores ?? {}));
  const compared = compareEvaluations(evaluation, baseline, metric, skillConfidence);
  const [low, high] = compared?.interval ?? [0, 0];
  const verdict = low > 0 ? 'better' : high < 0 ? 'worse' : 'no difference beyond chance';
  return { metric, verdict, difference: compared?.mean ?? null, interval: compared?.interval ?? null };
}

/** `skills/search is better than none: em +0.12 (99.5 % interval +0.04 to +0.19)`. */
export function skillLine({ skill, against, metric, verdict, difference, interval }: SkillVerdict): string {
  const isDecided = verdict !== 'no difference beyond chance';
  const said = isDecided
    ? `${safeLine(skill)} is ${verdict} than ${safeLine(against)}`
    : `${safeLine(skill)} and ${safeLine(against)}: ${verdict}`;
  if (difference === null || !interval) return `${said}, of too few tasks`;
  const [low, high] = interval.map(signed);
  return `${said}: ${metric} ${signed(difference)} (${100 * skillConfidence} % interval ${low} to ${high})`;
}

function signed(value: number): string {
  return `${value < 0 ? '−' : '+'}${scoreText(Math.abs(value))}`;
}
