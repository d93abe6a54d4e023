/** Checks the schema of a plugin's options. */
import type { JsonSchema } from '@toolenv/core';
import { validateWithDefaults } from '@toolenv/core/schemas';
import { schemaError } from './env/transition-rules.ts';
import type { RuleId } from './rules.ts';
import { brief, Violation } from './violation.ts';

/** Whether the value may be the schema of an object, as far as its type says. */
export function isObjectSchema(schema: unknown): boolean {
  return (
    typeof schema === 'object' && schema !== null && ((schema as JsonSchema).type ?? 'object') === 'object'
  );
}

/** @throws Violation unless the schema is valid and describes an object, and its defaults follow it. */
export function checkOptionsSchema(rule: RuleId, schema: JsonSchema): void {
  if (!isObjectSchema(schema)) throw new Violation(rule, 'options of type "object"', brief(schema));
  const error = schemaError(schema);
  if (error) throw new Violation(rule, 'a valid JSON Schema of the options', error);
  const options: Record<string, unknown> = {};
  const wrong = validateWithDefaults(schema, options).find(({ path }) => {
    const name = path.split('/')[1];
    return name !== undefined && Object.hasOwn(options, name);
  });
  if (wrong) throw new Violation(rule, `default ${wrong.path} ${wrong.expected}`, wrong.received);
}
