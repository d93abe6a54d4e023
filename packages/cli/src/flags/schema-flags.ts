/** Command-line flags from a JSON Schema: the options of a plugin become `--kebab-case` flags with help. */
import { type JsonSchema, ToolEnvError } from '@toolenv/core';
import { type OptionsOf, validate, validateWithDefaults } from '@toolenv/core/schemas';
import { Option } from 'commander';

/** The keywords of a property's schema that give flags and help. */
export interface Property {
  type?: unknown;
  enum?: unknown[];
  description?: string;
  default?: unknown;
  minimum?: number;
  exclusiveMinimum?: number;
  maximum?: number;
  exclusiveMaximum?: number;
  items?: Property;
  minItems?: number;
  maxItems?: number;
  /** A time in milliseconds: its flag takes seconds. */
  milliseconds?: boolean;
  /** Annotation of a trainer's option: it also takes the reference or file of a part of this kind. */
  part?: string;
  /** Annotation of a policy's option; see `PolicyDefinition`. */
  trainingOnly?: boolean;
}

/** `groupSize` → `--group-size`. */
export function flagName(property: string): string {
  return `--${property.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

/**
 * A flag for each property of an object schema. A flag holds text until {@link readFlags} reads it, so that all errors
 * are of one kind.
 */
export function schemaFlags(schema: JsonSchema): Option[] {
  return Object.entries(propertiesOf(schema)).map(([name, property]) => schemaFlag(name, property));
}

export function schemaFlag(name: string, property: Property): Option {
  const { description = '', default: fallback } = inSeconds(property);
  if (property.type === 'boolean') {
    if (fallback !== true) return new Option(flagName(name), description);
    return new Option(flagName(name).replace('--', '--no-'), description.replace(/^whether to /, 'do not '));
  }
  const shown = Array.isArray(fallback) ? fallback.join(',') : fallback;
  const note =
    shown === undefined ? '' : ` (default: ${typeof shown === 'object' ? JSON.stringify(shown) : shown})`;
  const value = placeholder(property);
  if (!property.enum || value.length <= 42)
    return new Option(`${flagName(name)} <${value}>`, description + note);
  // A long list in the first column would leave no room for the descriptions.
  return new Option(`${flagName(name)} <choice>`, `${description}: ${property.enum.join(', ')}${note}`);
}

/**
 * The values of those flags, for the properties that were given.
 * @param given Flags as commander has them: text, or a boolean.
 * @throws ToolEnvError `usage.bad_flag`, naming the flag and the values that it takes.
 */
export function readFlags(schema: JsonSchema, given: Record<string, unknown>): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  for (const [name, property] of Object.entries(propertiesOf(schema))) {
    const flag = schemaFlag(name, property);
    const value = given[flag.attributeName()];
    if (typeof value === 'string') values[name] = readValue(property, value, `${flagName(name)} ${value}`);
    // Commander takes the flag --no-x as the opposite of x, also where the property itself is named noX.
    else if (typeof value === 'boolean' && property.type === 'boolean')
      values[name] = flag.negate && property.default !== true ? !value : value;
  }
  return values;
}

/** The values of those flags and the schema's defaults: an object of the type that the schema describes. */
export function completeFlags<Schema extends JsonSchema>(
  schema: Schema,
  given: Record<string, unknown>,
): OptionsOf<Schema> {
  const values = readFlags(schema, given);
  validateWithDefaults(schema, values);
  return values as OptionsOf<Schema>;
}

/**
 * The values of `key=value` pairs, as `--env-option` takes them. Unknown names pass: `completeOptions` of core refuses them.
 * @param flag Names the flag in errors.
 * @throws ToolEnvError `usage.bad_flag`.
 */
export function readPairs(
  schema: JsonSchema,
  pairs: readonly string[],
  flag: string,
): Record<string, unknown> {
  const properties = propertiesOf(schema);
  const values: Record<string, unknown> = {};
  for (const pair of pairs) {
    const at = pair.indexOf('=');
    if (at < 1) throw new ToolEnvError('usage.bad_flag', `${flag} ${pair}: write it as key=value.`);
    const name = pair.slice(0, at);
    const property = Object.hasOwn(properties, name) ? properties[name] : undefined;
    values[name] = readValue(property ?? {}, pair.slice(at + 1), `${flag} ${pair}`);
  }
  return values;
}

export function propertiesOf(schema: JsonSchema): Record<string, Property> {
  return (schema.properties ?? {}) as Record<string, Property>;
}

function readValue(property: Property, text: string, where: string): unknown {
  if (property.milliseconds) return 1000 * (readValue(inSeconds(property), text, where) as number);
  const value = parse(property, text);
  const [wrong] = value === undefined ? [] : validate(property as JsonSchema, value);
  if (value !== undefined && !wrong) return value;
  throw new ToolEnvError('usage.bad_flag', `${where}: give ${expected(property)}.`);
}

/** The property with its times in seconds, as its flag takes them. */
function inSeconds({ milliseconds, ...property }: Property): Property {
  if (!milliseconds) return property;
  const scaled = Object.entries(property).map(([keyword, value]) => [
    keyword,
    typeof value === 'number' ? value / 1000 : value,
  ]);
  return Object.fromEntries(scaled);
}

/** `undefined` if the text cannot be of the property's type. */
function parse(property: Property, text: string): unknown {
  if (property.enum) return property.enum.find((choice) => String(choice) === text);
  switch (property.type) {
    case 'string':
      return text;
    case 'integer':
    case 'number':
      return text.trim() === '' || Number.isNaN(Number(text)) ? undefined : Number(text);
    case 'boolean':
      return text === 'true' ? true : text === 'false' ? false : undefined;
    case 'array': {
      const items = text.split(',').map((item) => parse(property.items ?? {}, item.trim()));
      return items.includes(undefined) ? undefined : items;
    }
    default:
      return parseJson(text) ?? text;
  }
}

/** `undefined` if the text is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The values that a property takes, in words that follow "give". */
function expected(property: Property): string {
  const choices = property.enum?.map(String);
  if (choices) return orList(property.part ? [...choices, 'the reference or file of another'] : choices);
  switch (property.type) {
    case 'integer':
      return `a whole number${range(property)}`;
    case 'number':
      return `a number${range(property)}`;
    case 'boolean':
      return 'true or false';
    case 'string':
      return 'text';
    case 'array': {
      const { minItems, maxItems, items = {} } = property;
      const count = minItems !== undefined && minItems === maxItems ? `${minItems} values` : 'values';
      return `${count} with commas between, each ${expected(items)}`;
    }
    default:
      return 'JSON that fits its schema';
  }
}

function range({ minimum, exclusiveMinimum, maximum, exclusiveMaximum }: Property): string {
  const bound = (word: string, value?: number) => (value === undefined ? '' : `${word} ${value}`);
  const low = bound('from', minimum) || bound('above', exclusiveMinimum);
  const high = bound('to', maximum) || bound('to below', exclusiveMaximum);
  if (low && !high) return minimum !== undefined ? ` ${low} up` : ` ${low}`;
  if (high && !low) return ` up ${high}`;
  return low && ` ${low} ${high}`;
}

function placeholder(property: Property): string {
  if (property.enum) return property.enum.join('|');
  if (property.milliseconds) return 'seconds';
  if (property.type === 'array') {
    const count = Math.min(property.minItems ?? 2, 3);
    return Array.from({ length: count }, () => placeholder(property.items ?? {})).join(',');
  }
  return { integer: 'n', number: 'x', string: 'text' }[String(property.type)] ?? 'json';
}

function orList(choices: string[]): string {
  const last = choices.at(-1) ?? 'nothing';
  return choices.length > 1 ? `${choices.slice(0, -1).join(', ')} or ${last}` : last;
}
