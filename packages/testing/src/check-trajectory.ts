/** checkTrajectory: checks a trajectory, in memory or as a line of JSONL, against the TRAJ rules of the spec. */
import { existsSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { rewardTolerance, sumRewards, ToolEnvError, type Trajectory, weigh } from '@toolenv/core';
import { decodeTrajectory, encodeTrajectory, readJsonLines } from '@toolenv/core/recording';
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
  await report.check(['TRAJ-3', 'TRAJ-4'], () => checkTotals(checked));
  await report.check(['TRAJ-5'], () => {
    if (checked.outcome.kind === 'running')
      throw new Violation('TRAJ-5', 'an outcome that ends it', 'running');
  });
  await report.check(['TRAJ-6'], () => checkTokens(checked));
  await report.check(['TRAJ-7'], () => checkOutcomeRewards(checked));
  await report.check(['TRAJ-8'], () => checkCalls(checked));
  await report.check(['TRAJ-9'], () => checkTruncation(checked));
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

function checkTotals({ steps, rewards, reward, rewardSpec, outcome }: Trajectory): void {
  if (outcome.kind === 'aborted') {
    if (reward === null && Object.values(rewards).every((value) => value === null)) return;
    throw new Violation('TRAJ-4', 'null for the reward and every component', brief({ rewards, reward }));
  }
  let total = sumOf(rewardSpec, steps);
  // An episode that is truncated before its first turn has no step to carry its zeros.
  if (steps.length === 0) total = { ...total, ...rewards };
  for (const name of new Set([...Object.keys(total), ...Object.keys(rewards)])) {
    if (close(total[name], rewards[name])) continue;
    throw new Violation('TRAJ-3', `"${name}" ${total[name]}, its sum over the steps`, brief(rewards[name]));
  }
  if (close(reward, weigh(rewardSpec, rewards))) return;
  throw new Violation('TRAJ-3', `reward ${weigh(rewardSpec, rewards)}, the weighted sum`, brief(reward));
}

function sumOf(spec: Trajectory['rewardSpec'], steps: Trajectory['steps']): Trajectory['rewards'] {
  try {
    return sumRewards(spec, steps);
  } catch (error) {
    if (!ToolEnvError.isInstance(error)) throw error;
    throw new Violation('TRAJ-3', 'declared rewards within their ranges', error.message);
  }
}

function close(a: number | null | undefined, b: number | null | undefined): boolean {
  if (typeof a !== 'number' || typeof b !== 'number') return a === b;
  return Math.abs(a - b) <= rewardTolerance * Math.max(1, Math.abs(a));
}

function checkTokens({ steps }: Trajectory): void {
  for (const [turn, { action }] of steps.entries()) {
    if (!action.tokens) continue;
    const { prompt, action: generated, logprobs } = action.tokens;
    if (prompt.length > 0 && generated.length > 0 && generated.length === logprobs.length) continue;
    const expected = `a prompt, and as many logprobs as action tokens, in step ${turn}`;
    const received = `${prompt.length} prompt tokens, ${generated.length} action tokens, ${logprobs.length} logprobs`;
    throw new Violation('TRAJ-6', expected, received);
  }
}

function checkOutcomeRewards({ steps, rewardSpec }: Trajectory): void {
  for (const [turn, { rewards = {} }] of steps.slice(0, -1).entries()) {
    const early = Object.entries(rewards).find(
      ([name, value]) => value !== null && rewardSpec[name]?.kind === 'outcome',
    );
    if (early)
      throw new Violation('TRAJ-7', `no "${early[0]}" in step ${turn} of ${steps.length}`, `${early[1]}`);
  }
}

/** Only the last step may lack records: a deadline or the length limit may have cut it short. */
function checkCalls({ steps, outcome }: Trajectory): void {
  for (const [turn, { action, calls }] of steps.entries()) {
    const last = turn === steps.length - 1;
    if (last && calls.length === 0 && outcome.kind !== 'terminated') continue;
    const recorded = calls.map(({ call }) => call);
    if (isDeepStrictEqual(recorded, action.toolCalls)) continue;
    throw new Violation('TRAJ-8', `records of ${brief(action.toolCalls)} in step ${turn}`, brief(recorded));
  }
}

function checkTruncation({ outcome, rewards, rewardSpec }: Trajectory): void {
  if (outcome.kind !== 'truncated') return;
  for (const [name, { kind }] of Object.entries(rewardSpec)) {
    if (kind !== 'outcome' || typeof rewards[name] === 'number') continue;
    throw new Violation('TRAJ-9', `a value of "${name}"`, brief(rewards[name]));
  }
}
