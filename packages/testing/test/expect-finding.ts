/** Expects a report with exactly one finding. */
import { expect } from 'vitest';
import { type Finding, type Report, type RuleId, reportText } from '../src/index.ts';

export function expectFinding(report: Report, rule: RuleId): Finding {
  const found = report.findings.map((finding) => finding.rule);
  expect(found, reportText(report)).toEqual([rule]);
  return report.findings[0]!;
}
