/** HotpotQA's JSON format (arXiv 1809.09600), for its distractor and its fullwiki files. All question families write it. */
import { writeFile } from 'node:fs/promises';
import { withDiskErrors } from '@toolenv/core/files';
import type { QaRecord } from '../qa-record.ts';
import { type RecordFormat, streamRecords } from './read-records.ts';

/** A string and a value, such as `[title, …]`. */
const pair = (second: object) => ({
  type: 'array',
  items: { type: 'array', prefixItems: [{ type: 'string' }, second], minItems: 2, maxItems: 2 },
});

/** The fields that 2WikiMultihopQA has too. */
export const hotpotFields: Readonly<Record<string, object>> = {
  _id: { type: 'string', minLength: 1 },
  question: { type: 'string', minLength: 1 },
  answer: { type: 'string', minLength: 1 },
  type: { type: 'string' },
  supporting_facts: pair({ type: 'integer' }),
  // A fullwiki file has what its authors' search found, which may be nothing.
  context: pair({ type: 'array', items: { type: 'string' } }),
};

/** The required form of these fields in words. */
export const hotpotShapes: Readonly<Record<string, string>> = {
  _id: 'a string that names the record',
  question: 'a string that is not empty',
  answer: 'a string that is not empty (a public test set has none: use the dev set)',
  type: 'a string, or nothing',
  supporting_facts: 'an array of [title, sentence number]',
  context: 'an array of [title, [sentence, …]]',
};

export const hotpotFormat: RecordFormat = {
  name: 'HotpotQA',
  schema: {
    type: 'object',
    properties: { ...hotpotFields, level: { type: 'string' } },
    required: ['_id', 'question', 'answer', 'supporting_facts', 'context'],
  },
  shapes: { ...hotpotShapes, level: 'a string, or nothing' },
  id: '_id',
  toRecord: (value) => ({ type: '', level: '', ...value }) as QaRecord,
};

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
  await withDiskErrors(path, () => writeFile(path, text));
}
