/** Checks a plugin's options against its schema and fills in the defaults. */
import { didYouMean } from '../protocol/did-you-mean.ts';
import { ToolEnvError } from '../protocol/errors.ts';
import type { JsonSchema, SchemaMistake } from '../protocol/json-schema.ts';
import { validate, validateWithDefaults } from './json-schema.ts';
import type { OptionsOf } from './json-schema-type.ts';

/**
 * A copy of `options` with the schema's defaults filled in. Refuses properties that the schema does not list, unless its
 * `additionalProperties` allows them.
 * @param owner Names the plugin in errors.
 * @throws ToolEnvError `usage.unknown_option` or `usage.bad_option`, naming the option.
 */
export function completeOptions<const Schema extends JsonSchema>(
  schema: Schema,
  options: object,
  owner: string,
): OptionsOf<Schema> {
  const names = Object.keys((schema.properties as Record<string, unknown> | undefined) ?? {});
  for (const name of schema.additionalProperties ? [] : Object.keys(options)) {
    if (names.includes(name)) continue;
    const hint = didYouMean(name, names, 'Options');
    throw new ToolEnvError('usage.unknown_option', `${owner} has no option "${name}". ${hint}`);
  }
  const complete = structuredClone(options) as Record<string, unknown>;
  const [wrong] = validateWithDefaults(schema, complete);
  if (!wrong) return complete as OptionsOf<Schema>;
  throw badOption(owner, wrong);
}

/**
 * Names of the options that a resumed run may change: `mayChange` of their schema is true, or a JSON Schema that the
 * complete options of the run meet.
 */
export function changeableOptions(schema: JsonSchema, options: Record<string, unknown>): string[] {
  const properties = Object.entries((schema.properties ?? {}) as Record<string, JsonSchema>);
  const may = ({ mayChange }: JsonSchema) =>
    typeof mayChange === 'object' && mayChange !== null
      ? validate(mayChange as JsonSchema, options).length === 0
      : mayChange === true;
  return properties.filter(([, property]) => may(property)).map(([name]) => name);
}

/** @param owner Names the plugin. */
export function badOption(owner: string, { path, expected, received }: SchemaMistake): ToolEnvError {
  const name = path.slice(1).replaceAll('/', '.') || 'options';
  const message =
    received === 'nothing'
      ? `${owner} needs the option "${name}": give it.`
      : `${owner}: option "${name}": expected ${expected}; received ${received}.`;
  return new ToolEnvError('usage.bad_option', message);
}
