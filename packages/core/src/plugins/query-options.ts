/** Options behind the reference of a plugin: `@toolenv/tools-search/index-search-v1?folder=wiki&topK=5`. */
import { ToolEnvError } from '../protocol/errors.ts';
import type { JsonSchema } from '../protocol/json-schema.ts';
import { completeOptions } from '../schemas/complete-options.ts';
import { tryJson } from '../schemas/json-text.ts';

/** The reference, and the query string behind it. */
export function splitReference(source: string): { ref: string; query: string } {
  const [ref = '', query = ''] = source.split(/\?(.*)/s);
  return { ref, query };
}

/**
 * The complete options of a query string. Each value is read as the schema's type of its option; the schema refuses text that is not
 * JSON.
 * @throws ToolEnvError `usage.unknown_option`, `usage.bad_option`.
 */
export function queryOptions(schema: JsonSchema, query: string, ref: string): Record<string, unknown> {
  const properties = (schema.properties ?? {}) as Record<string, JsonSchema>;
  const options: Record<string, unknown> = {};
  for (const [name, text] of new URLSearchParams(query)) {
    if (Object.hasOwn(options, name)) {
      throw new ToolEnvError('usage.bad_option', `${ref}: option "${name}" is given twice: give it once.`);
    }
    const { type } = properties[name] ?? {};
    options[name] = type === undefined || type === 'string' ? text : readJson(text);
  }
  return completeOptions(schema, options, ref);
}

function readJson(text: string): unknown {
  const value = tryJson(text);
  return value === undefined ? text : value;
}
