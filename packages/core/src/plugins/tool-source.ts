/** What may fill a role of an environment, and its factory. */
import type { ToolFactory } from '../env/env-definition.ts';
import { ToolEnvError } from '../protocol/errors.ts';
import type { JsonSchema } from '../protocol/json-schema.ts';
import { completeOptions } from '../schemas/complete-options.ts';
import { tryJson } from '../schemas/json-text.ts';
import { loadPlugin } from './plugin.ts';

/**
 * A factory, a plugin, or the reference of a plugin, which may be followed by its options:
 * `@toolenv/tools-search/index-search-v1?folder=wiki`. Environment and tool agree on the material, which no type can follow
 * here.
 */
export type ToolSource = ToolFactory<never> | { create: ToolFactory<never> } | string;

/**
 * The factory of a tool. Throws as {@link loadPlugin} does.
 * @throws ToolEnvError `usage.unknown_option`, `usage.bad_option` for the options behind a reference.
 */
export async function toolFactory(
  source: ToolSource,
  { from }: { from?: string | readonly string[] } = {},
): Promise<ToolFactory> {
  if (typeof source === 'function') return source as ToolFactory;
  if (typeof source !== 'string') return (material) => source.create(material as never);
  const [ref = '', query] = source.split(/\?(.*)/s);
  const plugin = await loadPlugin('tools', ref, { from });
  const schema = plugin.options ?? { type: 'object', properties: {} };
  const options = completeOptions(schema, readQuery(schema, query ?? '', ref), ref);
  return (material) => plugin.create(material as never, options);
}

/**
 * The options of a query string. Each value is read as the schema's type of its option; the schema refuses text that is not
 * JSON.
 */
function readQuery({ properties = {} }: JsonSchema, query: string, ref: string): Record<string, unknown> {
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
  const value = tryJson(text);
  return value === undefined ? text : value;
}
