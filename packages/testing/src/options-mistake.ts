/** What is wrong with the schema of a plugin's options. */
import type { JsonSchema } from '@toolenv/core';
import { validateWithDefaults } from '@toolenv/core/schemas';
import { schemaError } from './env/transition-rules.ts';
import { brief } from './violation.ts';

/** The schema must be valid and describe an object, and its defaults must follow it. `undefined` if nothing is wrong. */
export function optionsMistake(schema: JsonSchema): { expected: string; received: string } | undefined {
  if (typeof schema !== 'object' || schema === null || (schema.type ?? 'object') !== 'object') {
    return { expected: 'options of type "object"', received: brief(schema) };
  }
  const error = schemaError(schema);
  if (error) return { expected: 'a valid JSON Schema of the options', received: error };
  const options: Record<string, unknown> = {};
  const wrong = validateWithDefaults(schema, options).find(({ path }) => {
    const name = path.split('/')[1];
    return name !== undefined && Object.hasOwn(options, name);
  });
  return wrong && { expected: `default ${wrong.path} ${wrong.expected}`, received: wrong.received };
}
