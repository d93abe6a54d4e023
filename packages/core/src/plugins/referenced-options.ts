/** A reference that is followed by options, as in a URL: `@toolenv/tools-search/index-search-v1?folder=wiki&topK=5`. */
import { ToolEnvError } from '../protocol/errors.ts';
import type { JsonSchema } from '../protocol/json-schema.ts';
import { tryJsonWithDigits } from '../schemas/json-text.ts';
import { parseAddressed } from './reference.ts';

/** The reference and the options behind it. In `<scheme>:<url>#<model>`, a `?` before `#` belongs to the URL. */
export function splitOptions(text: string): { name: string; query: string } {
  const isAddress = parseAddressed(text) !== undefined;
  const hash = text.indexOf('#');
  const at = isAddress && hash < 0 ? -1 : text.indexOf('?', isAddress ? hash : 0);
  return at < 0 ? { name: text, query: '' } : { name: text.slice(0, at), query: text.slice(at + 1) };
}

/**
 * The options of a query string. Each value is read as the schema's type of its option; the schema refuses text that is not
 * JSON.
 * @throws ToolEnvError `usage.bad_option` for an option that is given twice.
 */
export function readQuery(
  { properties = {} }: JsonSchema,
  query: string,
  ref: string,
): Record<string, unknown> {
  const options: Record<string, unknown> = {};
  for (const [name, text] of new URLSearchParams(query)) {
    if (Object.hasOwn(options, name)) {
      throw new ToolEnvError('usage.bad_option', `${ref}: option "${name}" is given twice: give it once.`);
    }
    const { type } = (properties as Record<string, JsonSchema>)[name] ?? {};
    options[name] = type === undefined || type === 'string' ? text : readJson(text);
  }
  return options;
}

function readJson(text: string): unknown {
  const value = tryJsonWithDigits(text);
  return value === undefined ? text : value;
}
