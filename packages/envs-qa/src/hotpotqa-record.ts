/** HotpotQA's JSON format (arXiv 1809.09600), which all question families use. */
import { readFile, writeFile } from 'node:fs/promises';
import { type JsonSchema, messageOf, ToolEnvError } from '@toolenv/core';
import { writing } from '@toolenv/core/recording';
import { type SchemaMistake, validate } from '@toolenv/core/schemas';
import { objectsOf } from './json-objects.ts';

export interface QaRecord {
  _id: string;
  question: string;
  answer: string;
  /** HotpotQA: `bridge` or `comparison`; other families use their own names. */
  type: string;
  /** HotpotQA: `easy`, `medium` or `hard`. */
  level: string;
  /** The sentences that answer the question, in the order of the hops. Sentences are counted from 0. */
  supporting_facts: [title: string, sentence: number][];
  /** Supporting paragraphs and others. */
  context: [title: string, sentences: string[]][];
}

const schema: JsonSchema = {
  type: 'object',
  properties: {
    _id: { type: 'string', minLength: 1 },
    question: { type: 'string', minLength: 1 },
    answer: { type: 'string', minLength: 1 },
    type: { type: 'string' },
    level: { type: 'string' },
    supporting_facts: {
      type: 'array',
      items: {
        type: 'array',
        prefixItems: [{ type: 'string' }, { type: 'integer' }],
        minItems: 2,
        maxItems: 2,
      },
    },
    context: {
      type: 'array',
      minItems: 1,
      items: {
        type: 'array',
        prefixItems: [{ type: 'string' }, { type: 'array', items: { type: 'string' } }],
        minItems: 2,
        maxItems: 2,
      },
    },
  },
  required: ['_id', 'question', 'answer', 'supporting_facts', 'context'],
};

/** Field → its required form, in words. */
const shapes: Readonly<Record<string, string>> = {
  _id: 'a string that names the record',
  question: 'a string that is not empty',
  answer: 'a string that is not empty (the public test set of HotpotQA has none: use its dev set)',
  type: 'a string, or nothing',
  level: 'a string, or nothing',
  supporting_facts: 'an array of [title, sentence number]',
  context: 'an array of [title, [sentence, …]] with one paragraph or more',
};

/** The distinct titles of the supporting facts, in the order of the hops. */
export function goldTitles(record: QaRecord): string[] {
  return [...new Set(record.supporting_facts.map(([title]) => title))];
}

/** A paragraph as one text. Sentences in the official files may or may not begin with a space. */
export function joinSentences(sentences: readonly string[]): string {
  return sentences
    .map((sentence) => sentence.trim())
    .filter(Boolean)
    .join(' ');
}

/**
 * Reads a file of records: a JSON array, as HotpotQA publishes, or one object per line.
 * @throws ToolEnvError `usage.missing_file`, `usage.broken_file` (not JSON) or `usage.broken_record`.
 */
export async function readRecords(path: string): Promise<QaRecord[]> {
  const records: QaRecord[] = [];
  for (const json of objectsOf(await readBytes(path), path)) {
    records.push(parseRecord(json, path, records.length + 1));
  }
  if (records.length > 0) return records;
  throw new ToolEnvError(
    'usage.broken_file',
    `${path} contains no record: give a file in HotpotQA's JSON format.`,
  );
}

/** Writes records as a JSON array, one record per line. */
export async function writeRecords(path: string, records: readonly QaRecord[]): Promise<void> {
  const text = `[\n${records.map((record) => JSON.stringify(record)).join(',\n')}\n]\n`;
  await writing(path, () => writeFile(path, text));
}

async function readBytes(path: string): Promise<Buffer> {
  try {
    return await readFile(path);
  } catch (error) {
    const message = `Cannot read ${path} (${messageOf(error)}): set "path" to a file in HotpotQA's JSON format.`;
    throw new ToolEnvError('usage.missing_file', message, { cause: error });
  }
}

function parseRecord(json: string, path: string, number: number): QaRecord {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch (error) {
    const message = `${path}, record ${number} is not JSON (${messageOf(error)}): correct it or download the file again.`;
    throw new ToolEnvError('usage.broken_file', message.replaceAll('\n', ' '), { cause: error });
  }
  const [mistake] = validate(schema, value);
  if (mistake) throw brokenRecord(value, mistake, path, number);
  return { type: '', level: '', ...(value as object) } as QaRecord;
}

function brokenRecord(value: unknown, mistake: SchemaMistake, path: string, number: number): ToolEnvError {
  const id = (value as { _id?: unknown })._id;
  const named = typeof id === 'string' ? ` (_id ${JSON.stringify(id)})` : '';
  const field = mistake.path.split('/')[1] ?? '';
  const what = `${mistake.path || 'it'} ${mistake.expected}; received ${mistake.received}`;
  const remedy = `Make "${field}" ${shapes[field] ?? 'right'}, or remove the record.`;
  return new ToolEnvError('usage.broken_record', `${path}, record ${number}${named}: ${what}. ${remedy}`);
}
