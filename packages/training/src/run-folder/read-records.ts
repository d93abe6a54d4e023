/** Reads the records of a JSONL file of a run. */
import { statSync } from 'node:fs';
import { messageOf, ToolEnvError } from '@toolenv/core';
import { readJsonLines } from '@toolenv/core/files';

/**
 * The records with a step and an object in `field`, in order; none without the file.
 * @param options.skipHalfWritten Leaves out a half-written last line, which a crash leaves.
 * @throws ToolEnvError `usage.broken_record` for any other damaged line, naming it, and for a pipe.
 */
export async function readRecords<
  Field extends string,
  Line extends { step: number } & Record<Field, object>,
>(file: string, field: Field, options: { skipHalfWritten?: boolean } = {}): Promise<Line[]> {
  const records: Line[] = [];
  const stats = statSync(file, { throwIfNoEntry: false });
  if (!stats) return records;
  // Reading a pipe would wait for a writer.
  if (!stats.isFile()) {
    const message = `${file} is not a regular file: take it out of the run.`;
    throw new ToolEnvError('usage.broken_record', message);
  }
  for await (const { text, place } of readJsonLines(file, options)) {
    try {
      const line: Line = JSON.parse(text);
      const value = line?.[field];
      if (!Number.isInteger(line?.step) || typeof value !== 'object' || value === null)
        throw new TypeError(`it has no step or no ${field}`);
      records.push(line);
    } catch (error) {
      const message = `${place} is damaged (${messageOf(error)}): remove the line.`;
      throw new ToolEnvError('usage.broken_record', message, { cause: error });
    }
  }
  return records;
}
