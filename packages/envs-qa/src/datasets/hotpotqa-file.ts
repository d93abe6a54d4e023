/** Whole files in HotpotQA's format, which all question families use. */
import { writeFile } from 'node:fs/promises';
import { writing } from '@toolenv/core/recording';
import type { QaRecord } from '../qa-record.ts';
import { hotpotFormat } from './hotpotqa-format.ts';
import { streamRecords } from './read-records.ts';

/**
 * Reads a whole file of records in HotpotQA's format: a JSON array, as HotpotQA publishes, or one object per line.
 * @throws ToolEnvError as `streamRecords` does.
 */
export async function readRecords(path: string): Promise<QaRecord[]> {
  const records: QaRecord[] = [];
  for await (const record of streamRecords(path, hotpotFormat)) records.push(record);
  return records;
}

/** Writes records as a JSON array, one record per line. */
export async function writeRecords(path: string, records: readonly QaRecord[]): Promise<void> {
  const text = `[\n${records.map((record) => JSON.stringify(record)).join(',\n')}\n]\n`;
  await writing(path, () => writeFile(path, text));
}
