/** Command-line flags from a JSON Schema: the options of a plugin become `--kebab-case` flags with help. */
import { type JsonSchema, ToolEnvError } from '@toolenv/core';
import {
  type OptionsOf,
  tryJson,
  unsafeInteger,
  validate,
  validateWithDefaults,
} from '@toolenv/core/schemas';
import { Option } from 'commander';
import { flagName } from '../display/terminal-text.ts';

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
  /** Of a list whose items may contain commas: the form of an item. Its flag takes one item, and is given again for another. */
  repeated?: string;
  /** Annotation of a trainer's option: it also takes the reference or file of a part of this kind. */
  part?: string;
  /** Annotation of a policy's option; see `PolicyDefinition`. */
  trainingOnly?: boolean;
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
    const isOn = fallback === true;
    const flag = isOn ? flagName(name).replace('--', '--no-') : flagName(name);
    return new Option(flag, switchText(description, isOn));
  }
  const shown = Array.isArray(fallback) ? fallback.join(',') : fallback;
  const note =
    shown === undefined || shown === ''
      ? ''
      : ` (default: ${typeof shown === 'object' ? JSON.stringify(shown) : shown})`;
  const value = placeholder(property);
  if (isOpenList(property)) {
    const more = property.repeated ? '; can be repeated' : '';
    const flag = new Option(`${flagName(name)} <${value}>`, description + more + note);
    return flag.argParser((text, before: string[] = []) => [...before, text]);
  }
  if (!property.enum || value.length <= 42)
    return new Option(`${flagName(name)} <${value}>`, description + note);
  // A long list in the first column would leave no room for the descriptions.
  return new Option(`${flagName(name)} <choice>`, `${description}: ${property.enum.join(', ')}${note}`);
}

/** What the flag does, not what the option says: the flag of an option that is on turns it off. */
function switchText(description: string, isOn: boolean): string {
  if (!isOn) return description.replace(/^whether to /, '');
  const text = description.replace(/^whether to /, 'do not ');
  return text === description && text !== '' ? `${text} (this flag switches it off)` : text;
}

/**
 * The values of those flags, for the properties that were given.
 * @param given Flags as commander has them: text, the texts of a flag that was repeated, or a boolean.
 * @throws ToolEnvError `usage.bad_flag`, naming the flag and the values that it takes.
 */
export function readFlags(schema: JsonSchema, given: Record<string, unknown>): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  for (const [name, property] of Object.entries(propertiesOf(schema))) {
    const flag = schemaFlag(name, property);
    const value = given[flag.attributeName()];
    if (Array.isArray(value)) values[name] = readList(property, value, flagName(name));
    else if (typeof value === 'string')
      values[name] = readValue(property, value, `${flagName(name)} ${value}`);
    // Commander takes the flag --no-x as the opposite of x, also where the property itself is named noX.
    else if (typeof value === 'boolean' && property.type === 'boolean')
      values[name] = flag.negate && property.default !== true ? !value : value;
  }
  return values;
}

/**
 * The options that are not their defaults, as words of a command line: {@link readFlags} reads them back. Options that the schema does not
 * have are left out.
 */
export function flagsOf(schema: JsonSchema, options: Readonly<Record<string, unknown>>): string[][] {
  return changed(schema, options).map(([name, property, value]) => {
    if (property.type === 'boolean') return [value ? flagName(name) : flagName(name).replace('--', '--no-')];
    return [flagName(name), valueText(property, value)];
  });
}

/** The same as `key=value` pairs, which {@link readPairs} reads back. */
export function pairsOf(schema: JsonSchema, options: Readonly<Record<string, unknown>>): string[] {
  return changed(schema, options).map(([name, property, value]) => `${name}=${valueText(property, value)}`);
}

function changed(
  schema: JsonSchema,
  options: Readonly<Record<string, unknown>>,
): [name: string, property: Property, value: unknown][] {
  return Object.entries(propertiesOf(schema)).flatMap(([name, property]) => {
    const value = options[name];
    const isDefault = JSON.stringify(value) === JSON.stringify(property.default);
    const isOff = value === undefined || value === null || (value === false && property.default !== true);
    return isDefault || isOff ? [] : [[name, property, value]];
  });
}

function valueText({ milliseconds, repeated }: Property, value: unknown): string {
  if (milliseconds && typeof value === 'number') return String(value / 1000);
  const isPlain = Array.isArray(value) && repeated === undefined && value.every(isNumberOrWord);
  if (isPlain) return value.join(',');
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function isNumberOrWord(value: unknown): boolean {
  return typeof value === 'number' || (typeof value === 'string' && /^[\w.-]+$/.test(value));
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
    const property = (Object.hasOwn(properties, name) ? properties[name] : undefined) ?? {};
    const value = readValue(property, pair.slice(at + 1), `${flag} ${pair}`);
    const before = isOpenList(property) && Object.hasOwn(values, name) ? values[name] : [];
    values[name] = isOpenList(property) ? [...(before as unknown[]), ...(value as unknown[])] : value;
  }
  return values;
}

/** Whether a flag that is given again adds to the list. The last of several lists of a fixed length counts, as of single values. */
function isOpenList({ type, maxItems }: Property): boolean {
  return type === 'array' && maxItems === undefined;
}

/** The items of a flag that was given several times. */
function readList(property: Property, texts: readonly string[], flag: string): unknown[] {
  const items = texts.flatMap((text) => readValue({ ...property, minItems: 0 }, text, `${flag} ${text}`));
  const [wrong] = validate(property as JsonSchema, items);
  if (!wrong) return items;
  throw new ToolEnvError('usage.bad_flag', `${flag} ${texts.join(' ')}: give ${expected(property)}.`);
}

export function propertiesOf(schema: JsonSchema): Record<string, Property> {
  return (schema.properties ?? {}) as Record<string, Property>;
}

function readValue(property: Property, text: string, where: string): unknown {
  if (property.milliseconds) return 1000 * (readValue(inSeconds(property), text, where) as number);
  const value = parse(property, text);
  const [wrong] = value === undefined ? [] : validate(property as JsonSchema, value);
  if (value !== undefined && !wrong) return value;
  const form = expected(property);
  const hint = form === anyJson && parseJson(text) === undefined ? jsonHint(text) : '';
  throw new ToolEnvError('usage.bad_flag', `${where}: give ${form}${hint}.`);
}

const anyJson = 'JSON that fits its schema';

/** Shells and Python have other quotes than JSON. */
function jsonHint(text: string): string {
  return text.includes("'") && !text.includes('"')
    ? `, with double quotes around names and texts, and true, false and null, such as '{"name": true}'`
    : `, in one word of the shell, such as '{"name": true}'`;
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
    case 'array':
      return parseList(property, text);
    default:
      return parseJson(text) ?? text;
  }
}

/** A JSON array, one item if the flag can be repeated, or items with commas between. */
function parseList({ items: each = {}, repeated }: Property, text: string): unknown[] | undefined {
  const json = parseJson(text);
  if (Array.isArray(json)) return json;
  const texts = repeated === undefined ? text.split(',').map((item) => item.trim()) : [text];
  const items = texts.map((item) => parse(each, item));
  return items.includes(undefined) ? undefined : items;
}

/** `undefined` if the text is not JSON, or has an integer that a number would round. */
export function parseJson(text: string): unknown {
  return unsafeInteger(text) === undefined ? tryJson(text) : undefined;
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
      const { minItems, maxItems, items = {}, repeated } = property;
      if (repeated !== undefined) return `${repeated}, and the flag again for another`;
      const count = minItems !== undefined && minItems === maxItems ? `${minItems} values` : 'values';
      return `${count} with commas between, each ${expected(items)}`;
    }
    default:
      return anyJson;
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
  if (property.repeated !== undefined) return property.repeated;
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
