/** Expects a report with exactly one finding or warning. */
import { expect } from 'vitest';
import { type Finding, type Report, type RuleId, reportText } from '../src/index.ts';

export function expectFinding(report: Report, rule: RuleId): Finding {
  const found = [...report.findings, ...report.warnings];
  expect(
    found.map((finding) => finding.rule),
    reportText(report),
  ).toEqual([rule]);
  return found[0]!;
}
