/** toPass: rules of the spec hold. */
import type { EnvDefinition } from '@toolenv/core';
import { type CheckEnvOptions, checkEnv } from '../env/check-env.ts';
import { type Report, reportText } from '../report.ts';
import { rules as allRules, type RuleId } from '../rules.ts';
import type { Matched } from './evaluation-matchers.ts';

type Subject = Report | EnvDefinition<unknown, unknown> | string;

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
