/** What is wrong with a field of a checkpoint's JSON files, in one line. */
import { type JsonSchema, jsonMistake, validate } from '@toolenv/core/schemas';

/** Levels that the files of tokenizers and configurations may nest. Validation and the readers recurse. */
const depth = 64;

/**
 * The first field of `value` that does not follow `schema`, such such as `rope_theta is "x" and must be number`; `undefined` if all do.
 * @param name Name of the value, for example the field that holds it.
 */
export function fieldMistake(schema: JsonSchema, value: unknown, name = ''): string | undefined {
  const unbounded = jsonMistake(value, { depth, characters: Number.POSITIVE_INFINITY });
  if (unbounded) return `${name || 'it'} is ${unbounded.received}`;
  const [wrong] = validate(schema, value);
  if (!wrong) return undefined;
  const field = `${name}${wrong.path}`.replace(/^\//, '');
  return wrong.received === 'nothing'
    ? `${field} is missing`
    : `${field} is ${wrong.received} and ${wrong.expected}`;
}
