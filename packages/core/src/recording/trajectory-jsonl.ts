/** Trajectories as JSONL, version 1: one trajectory per line, typed arrays as plain arrays. */
import { open } from 'node:fs/promises';
import { withDiskErrors } from '../files/disk-errors.ts';
import { type ReadOptions, readJsonLines, wholeLines } from '../files/jsonl.ts';
import { ToolEnvError } from '../protocol/errors.ts';
import { jsonWithoutSecrets } from '../protocol/secrets.ts';
import type { Trajectory } from '../protocol/trajectory.ts';
import { jsonMistake, recordBounds } from '../schemas/json-bounds.ts';
import { wireSchemas } from '../schemas/wire-schemas.ts';
import { type PlainAction, plainAction, restoreAction } from './plain-action.ts';
import { readRecord } from './read-record.ts';

/**
 * One line, without its line break. Numbers read back with the same bits: a float32 is exact as a float64, and numbers that JSON
 * lacks (NaN, ±Infinity, −0) are written as strings. The secrets of this process are left out of its texts.
 */
export function encodeTrajectory(trajectory: Trajectory): string {
  const { outcome, steps } = trajectory;
  return jsonWithoutSecrets({
    ...trajectory,
    // JSON leaves out what is undefined.
    task: trajectory.task ?? null,
    outcome:
      outcome.kind === 'aborted'
        ? { ...outcome, cause: { code: outcome.cause.code, message: outcome.cause.message } }
        : outcome,
    steps: steps.map(({ action, ...step }) => ({ ...step, action: plainAction(action) })),
  });
}

/**
 * @param place Names the line in errors, such as `file:line`.
 * @throws ToolEnvError `usage.broken_record` if the line is not JSON or not a trajectory, `usage.record_version` if it is
 *   of another version.
 */
export function decodeTrajectory(line: string, place = 'trajectory'): Trajectory {
  const remedy = 'Remove that line.';
  const kind = { kind: 'trajectory', schema: wireSchemas.trajectory, remedy } as const;
  const value = readRecord({ text: line, place }, kind) as PlainTrajectory;
  // An environment may play the task again, and no code of an author expects thousands of levels.
  const wrong = jsonMistake(value.task, recordBounds);
  if (!wrong) return restore(value);
  const message = `${place}/task${wrong.path}: expected ${wrong.expected}; received ${wrong.received}. ${remedy}`;
  throw new ToolEnvError('usage.broken_record', message);
}

/**
 * Appends a trajectory to a file, which is created if it does not exist.
 * @param options.cutHalfWritten Remove a half-written last line, as a crash leaves it, instead of refusing.
 * @throws ToolEnvError `usage.broken_record` if the file ends in a half-written line, `infrastructure.disk` if it cannot be
 *   written.
 */
export async function appendTrajectory(
  file: string,
  trajectory: Trajectory,
  options: { cutHalfWritten?: boolean } = {},
): Promise<void> {
  const line = `${encodeTrajectory(trajectory)}\n`;
  const handle = await withDiskErrors(file, () => open(file, 'a+'));
  try {
    const { size } = await handle.stat();
    const whole = await wholeLines(handle, size);
    if (whole < size && !options.cutHalfWritten) {
      const message = `${file}: its last line is half-written. Append with cutHalfWritten, or end the line yourself.`;
      throw new ToolEnvError('usage.broken_record', message);
    }
    await withDiskErrors(file, async () => {
      if (whole < size) await handle.truncate(whole);
      await handle.appendFile(line);
    });
  } finally {
    await handle.close();
  }
}

/**
 * The trajectories of a file in its order, one line at a time in memory.
 * @throws ToolEnvError As {@link decodeTrajectory} does, naming file and line.
 */
export async function* readTrajectories(
  file: string,
  options: ReadOptions = {},
): AsyncGenerator<Trajectory, void, void> {
  for await (const { text, place } of readJsonLines(file, options)) yield decodeTrajectory(text, place);
}

type PlainTrajectory = Omit<Trajectory, 'version' | 'steps' | 'outcome'> & {
  version: number;
  outcome: { kind: string; cause?: { code: never; message: string } };
  steps: { action: PlainAction }[];
};

function restore(value: PlainTrajectory): Trajectory {
  const { cause } = value.outcome;
  const outcome = cause
    ? { ...value.outcome, cause: new ToolEnvError(cause.code, cause.message) }
    : value.outcome;
  const steps = value.steps.map((step) => ({ ...step, action: restoreAction(step.action) }));
  return { ...value, outcome, steps } as Trajectory;
}
