/** Checks the fields of a checkpoint's JSON files. */
import { ToolEnvError } from '@toolenv/core';
import { type JsonSchema, jsonMistake, validate } from '@toolenv/core/schemas';

/** Levels that the files of tokenizers and configurations may nest. Validation and the readers recurse. */
const depth = 64;

/**
 * @param name Name of the value, for example the field that holds it.
 * @throws ToolEnvError `usage.checkpoint_damaged` with the first field of `value` in `file` that does not follow `schema`, such as
 *   `rope_theta is "x" and must be number`.
 */
export function checkFields(file: string, schema: JsonSchema, value: unknown, name = ''): void {
  const wrong = fieldMistake(schema, value, name);
  if (wrong) throw new ToolEnvError('usage.checkpoint_damaged', `${file}: ${wrong}: copy it again.`);
}

function fieldMistake(schema: JsonSchema, value: unknown, name: string): string | undefined {
  const unbounded = jsonMistake(value, { depth, characters: Number.POSITIVE_INFINITY, anyNumber: true });
  if (unbounded) return `${name || 'it'} is ${unbounded.received}`;
  const [wrong] = validate(schema, value);
  if (!wrong) return undefined;
  const field = `${name}${wrong.path}`.replace(/^\//, '');
  return wrong.received === 'nothing'
    ? `${field} is missing`
    : `${field} is ${wrong.received} and ${wrong.expected}`;
}
