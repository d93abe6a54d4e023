/** streamRecords: the records of a published file, one at a time. */
import { type JsonSchema, ToolEnvError } from '@toolenv/core';
import { type SchemaMistake, validate, withoutFilledNulls } from '@toolenv/core/schemas';
import { jsonObjects } from '@toolenv/dataset';
import type { QaRecord } from '../qa-record.ts';

/** The format in which the authors of a dataset publish their records. */
export interface RecordFormat {
  /** As people call it, for errors: `HotpotQA`. */
  readonly name: string;
  /** Of one record. */
  readonly schema: JsonSchema;
  /** Field → its required form in words, for errors. */
  readonly shapes: Readonly<Record<string, string>>;
  /** Field with the name of a record. */
  readonly id: string;
  /** Makes a record of a value that the schema accepts. */
  toRecord(value: object): QaRecord;
}

/**
 * The records in the file's order. The file is a JSON array or has an object on each line; it may be packed by gzip, or be a member of a
 * zip archive: `archive.zip/member`.
 * @throws ToolEnvError `usage.missing_file`, `usage.broken_file` (not JSON, not UTF-8, not whole), `usage.broken_record`,
 *   `usage.zip_member`. Each names the file, the record and a remedy.
 */
export async function* streamRecords(path: string, format: RecordFormat): AsyncGenerator<QaRecord> {
  let isEmpty = true;
  for await (const { value: given, place } of jsonObjects(path)) {
    isEmpty = false;
    const value = withoutFilledNulls(format.schema, given) as object;
    const [mistake] = validate(format.schema, value);
    if (mistake) throw brokenRecord(value, mistake, place, format);
    yield format.toRecord(value);
  }
  if (!isEmpty) return;
  const message = `${path} contains no record: give a file in ${format.name}'s JSON format.`;
  throw new ToolEnvError('usage.broken_file', message);
}

function brokenRecord(
  value: object,
  { path, expected, received }: SchemaMistake,
  place: string,
  { id, shapes }: RecordFormat,
): ToolEnvError {
  const name = (value as Record<string, unknown>)[id];
  const named = typeof name === 'string' ? ` (${id} ${JSON.stringify(name)})` : '';
  const field = path.split('/')[1] ?? '';
  const remedy = `Make "${field}" ${shapes[field] ?? 'right'}, or remove the record.`;
  const message = `${place}${named}: ${path || 'it'} ${expected}; received ${received}. ${remedy}`;
  return new ToolEnvError('usage.broken_record', message);
}
