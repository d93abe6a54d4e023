/** checkTrajectory: checks a trajectory, in memory or as a line of JSONL, against the TRAJ rules of the spec. */
import { existsSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { ToolEnvError, type Trajectory } from '@toolenv/core';
import { readJsonLines } from '@toolenv/core/files';
import { decodeTrajectory, encodeTrajectory, trajectoryViolations } from '@toolenv/core/recording';
import { recordBounds, validate, wireSchemas } from '@toolenv/core/schemas';
import { notJson } from './json-value.ts';
import { type CheckOptions, type Finding, type Report, Reporter } from './report.ts';
import { type RuleId, rules } from './rules.ts';
import { brief, Violation } from './violation.ts';

export interface CheckTrajectoryOptions extends CheckOptions {
  /** Names the trajectory in the report. Default: its episode id. */
  name?: string;
}

const trajectoryRules = (Object.keys(rules) as RuleId[]).filter((rule) => rule.startsWith('TRAJ-'));

/** Rules that are checked together. */
const contentRules: readonly RuleId[][] = [
  ['TRAJ-3', 'TRAJ-4'],
  ['TRAJ-5'],
  ['TRAJ-6'],
  ['TRAJ-7'],
  ['TRAJ-8'],
  ['TRAJ-9'],
];

/** @param trajectory In memory, or a line of a JSONL file. */
export async function checkTrajectory(
  trajectory: Trajectory | string,
  options: CheckTrajectoryOptions = {},
): Promise<Report> {
  const given = typeof trajectory === 'string' ? undefined : `episode ${trajectory.episodeId}`;
  const report = new Reporter(options.name ?? given ?? 'trajectory', 'TRAJ', options);
  let read: Trajectory | undefined;
  await report.check(['TRAJ-1', 'TRAJ-2'], () => {
    read = typeof trajectory === 'string' ? readLine(trajectory) : readBack(trajectory);
  });
  if (!read) return report.report;
  const checked = read;
  const found = [...trajectoryViolations(checked)];
  for (const rules of contentRules) {
    await report.check(rules, () => {
      const wrong = found.find(({ rule }) => rules.includes(rule));
      if (wrong) throw new Violation(wrong.rule, wrong.expected, wrong.received);
    });
  }
  return report.report;
}

/**
 * Checks every line of a JSONL file and makes one report. A rule passes if it holds in every line; a finding names its line.
 * @throws ToolEnvError `usage.missing_file` if the file does not exist, `usage.empty_file` if it has no lines.
 */
export async function checkTrajectoryFile(file: string, options: CheckOptions = {}): Promise<Report> {
  if (!existsSync(file)) {
    const message = `${file} does not exist: name a JSONL file of trajectories.`;
    throw new ToolEnvError('usage.missing_file', message);
  }
  const findings = new Map<RuleId, Finding>();
  let last: Report | undefined;
  for await (const { text, place } of readJsonLines(file)) {
    last = await checkTrajectory(text, options);
    for (const finding of last.findings) {
      if (findings.has(finding.rule)) continue;
      findings.set(finding.rule, { ...finding, received: `${finding.received} (${place})` });
    }
  }
  if (!last) throw new ToolEnvError('usage.empty_file', `${file} contains no trajectory.`);
  const { skipped } = last;
  const left = skipped.map(({ rule }) => rule);
  const passed = trajectoryRules.filter((rule) => !findings.has(rule) && !left.includes(rule));
  const ok = findings.size === 0;
  return { subject: file, ok, findings: [...findings.values()], warnings: [], passed, skipped };
}

function readLine(line: string): Trajectory {
  let plain: unknown;
  try {
    plain = JSON.parse(line);
  } catch (error) {
    throw new Violation('TRAJ-1', 'one JSON object in the line', brief(error));
  }
  checkForm(plain);
  const read = decodeTrajectory(line);
  checkSame(plain, JSON.parse(encodeTrajectory(read)));
  return read;
}

function readBack(trajectory: Trajectory): Trajectory {
  const { task, steps } = trajectory;
  const plain = steps.map(({ action: { tokens: _, ...action }, ...step }) => ({ ...step, action }));
  // Results are five levels below the parts.
  const unheld = notJson({ task, steps: plain }, recordBounds.depth + 5);
  if (unheld) throw new Violation('TRAJ-2', 'a trajectory that JSON can hold', unheld);
  const line = encodeTrajectory(trajectory);
  checkForm(JSON.parse(line));
  const read = decodeTrajectory(line);
  for (const [turn, step] of steps.entries()) checkSame(step.action.tokens, read.steps[turn]!.action.tokens);
  return read;
}

function checkForm(plain: unknown): void {
  const wrong = validate(wireSchemas.trajectory, plain)[0];
  if (wrong)
    throw new Violation('TRAJ-1', `${wrong.path || 'the trajectory'} ${wrong.expected}`, wrong.received);
}

function checkSame(written: unknown, read: unknown): void {
  if (isDeepStrictEqual(written, read)) return;
  throw new Violation('TRAJ-2', `what was written: ${brief(written)}`, brief(read));
}
