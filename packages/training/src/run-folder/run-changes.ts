/** changes.jsonl: what resumed runs changed, old and new, and from which step on. config.json has the newest values. */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { writeAtomic } from '@toolenv/core/files';
import { readRecords } from './read-records.ts';
import { readConfig, writeConfig } from './run-config.ts';
import { type Changes, differences, undo, valuesOf } from './run-differences.ts';

/** One line of changes.jsonl. */
export interface ChangesLine {
  /** The first step that was played with the new values. */
  step: number;
  changes: Changes;
}

const changesFile = 'changes.jsonl';

/**
 * The changes of a run in the order of their steps; none for a run that never changed. Undone from the last to the first,
 * they lead from config.json back to the values that the run began with.
 * @throws ToolEnvError `usage.broken_record`, naming the line.
 */
export function readChanges(out: string): Promise<ChangesLine[]> {
  return readRecords(join(out, changesFile), 'changes');
}

/**
 * Writes config.json, and how it differs from before, as a run resumes with `step`. Earlier changes from this step on had no
 * effect, because the run plays those steps again: they are dropped.
 */
export async function recordChanges(
  out: string,
  step: number,
  config: Readonly<Record<string, unknown>>,
): Promise<void> {
  const lines = await readChanges(out);
  const kept = lines.filter((line) => line.step < step);
  const dropped = lines.slice(kept.length).reverse();
  const before = dropped.reduce(
    (values, { changes }) => undo(values, changes),
    valuesOf((await readConfig(out)) ?? {}),
  );
  // Resolved options follow from the other values.
  const all = Object.entries(differences(before, valuesOf(config)));
  const changes = Object.fromEntries(all.filter(([name]) => !name.startsWith('resolvedOptions.')));
  if (Object.keys(changes).length > 0) kept.push({ step, changes });
  // First the log: if the process dies in between, the next resumed run finds the change again.
  if (kept.length > 0)
    await writeAtomic(join(out, changesFile), kept.map((line) => `${JSON.stringify(line)}\n`).join(''));
  else await rm(join(out, changesFile), { force: true });
  await writeConfig(out, config);
}
