/** readRecord: a line of a file of records, version 1, checked against its schema. */

import type { JsonLine } from '../files/jsonl.ts';
import { messageOf, ToolEnvError } from '../protocol/errors.ts';
import type { JsonSchema } from '../protocol/json-schema.ts';
import { validate } from '../schemas/json-schema.ts';
import { jsonWithDigits } from '../schemas/json-text.ts';

/**
 * @param kind Names what the file holds, in errors.
 * @param remedy What to do about a record of another form.
 * @throws ToolEnvError `usage.broken_record` if the line is not JSON or does not follow the schema, `usage.record_version` if
 *   it is of another version.
 */
export function readRecord(
  { text, place }: JsonLine,
  { kind, schema, remedy }: { kind: 'trajectory' | 'recording'; schema: JsonSchema; remedy: string },
): unknown {
  let value: unknown;
  try {
    // Nothing here writes integers that a number would round. Of another writer, they are texts of their digits.
    value = jsonWithDigits(text);
  } catch (error) {
    const message = `${place}: not a complete JSON record (${messageOf(error)}): remove that line, or read with skipHalfWritten if it is the last one.`;
    throw new ToolEnvError('usage.broken_record', message, { cause: error });
  }
  const { version } = Object(value) as { version?: unknown };
  if (typeof version === 'number' && version !== 1) {
    const message = `${place}: ${kind} version ${version}; this toolenv reads version 1: update @toolenv/core.`;
    throw new ToolEnvError('usage.record_version', message);
  }
  const [wrong] = validate(schema, value);
  if (!wrong) return value;
  const message = `${place}${wrong.path}: expected ${wrong.expected}; received ${wrong.received}. ${remedy}`;
  throw new ToolEnvError('usage.broken_record', message);
}
