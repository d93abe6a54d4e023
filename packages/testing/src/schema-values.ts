/** Generates values from a JSON Schema with fast-check: valid ones and broken ones. */
import type { JsonSchema } from '@toolenv/core';
import { resolvePointer } from '@toolenv/core/schemas';
import fc, { type Arbitrary } from 'fast-check';

/** Depth of references and nesting that is followed, so that a recursive schema ends. */
const deepest = 5;

/**
 * Values that follow the schema's `type`, `properties`, `required`, `items`, `prefixItems`, `enum`, `const`, `anyOf`,
 * `oneOf`, `allOf`, local `$ref`s and the bounds of numbers, texts and lists. Other keywords may refuse a value: check it
 * with `validate`.
 */
export function schemaValues(schema: JsonSchema): Arbitrary<unknown> {
  return valuesOf(schema, schema, deepest);
}

/** Objects that nearly follow the schema, most of them invalid: a key is missing or added, or a value is replaced. */
export function brokenArguments(schema: JsonSchema): Arbitrary<Record<string, unknown>> {
  const right = schemaValues(schema).map(toObject);
  const anything = fc.jsonValue({ maxDepth: 2 }) as Arbitrary<unknown>;
  const key = fc.oneof(fc.string(), fc.constantFrom('__proto__', 'constructor', 'length', 'query', ''));
  return fc.oneof(
    fc.tuple(right, fc.nat()).map(([args, at]) => without(args, at)),
    fc.tuple(right, fc.nat(), anything).map(([args, at, value]) => replaced(args, at, value)),
    fc.tuple(right, key, anything).map(([args, name, value]) => added(args, name, value)),
    fc.dictionary(key, anything, { maxKeys: 4 }),
  );
}

/** The keywords that are followed. A schema may have others. */
interface Keywords {
  $ref?: string;
  const?: unknown;
  enum?: unknown[];
  anyOf?: JsonSchema[];
  oneOf?: JsonSchema[];
  allOf?: JsonSchema[];
  type?: string | string[];
  properties?: Record<string, JsonSchema>;
  required?: string[];
  items?: JsonSchema;
  prefixItems?: JsonSchema[];
  minItems?: number;
  maxItems?: number;
  uniqueItems?: boolean;
  minLength?: number;
  maxLength?: number;
  pattern?: string;
  minimum?: number;
  exclusiveMinimum?: number;
  maximum?: number;
  exclusiveMaximum?: number;
  multipleOf?: number;
}

function valuesOf(schema: unknown, root: JsonSchema, depth: number): Arbitrary<unknown> {
  if (typeof schema !== 'object' || schema === null || depth < 0) return fc.jsonValue({ maxDepth: 1 });
  const of = schema as Keywords;
  const each = (inner: unknown) => valuesOf(inner, root, depth - 1);
  if (of.$ref !== undefined) return each(resolvePointer(root, decodeURIComponent(of.$ref.replace(/^#/, ''))));
  if ('const' in of) return fc.constant(of.const);
  if (of.enum?.length) return fc.constantFrom(...of.enum);
  const choices = of.anyOf ?? of.oneOf;
  if (choices?.length) {
    const { anyOf: _, oneOf: __, ...rest } = of;
    return fc.oneof(...choices.map((choice) => each(merge([rest, choice as Keywords]))));
  }
  if (of.allOf?.length) {
    const { allOf, ...rest } = of;
    return each(merge([rest, ...(allOf as Keywords[])]));
  }
  const types = [of.type ?? (of.properties ? 'object' : [])].flat();
  if (types.length === 0) return fc.jsonValue({ maxDepth: 2 });
  return fc.oneof(...types.map((type) => ofType(type, of, each)));
}

function ofType(
  type: string,
  of: Keywords,
  each: (schema: unknown) => Arbitrary<unknown>,
): Arbitrary<unknown> {
  switch (type) {
    case 'string':
      return texts(of);
    case 'integer':
    case 'number':
      return numbers(of, type === 'integer');
    case 'boolean':
      return fc.boolean();
    case 'null':
      return fc.constant(null);
    case 'array':
      return lists(of, each);
    default: {
      const values = Object.entries(of.properties ?? {}).map(([key, value]) => [key, each(value)] as const);
      const required = (of.required ?? []).filter((key) => Object.hasOwn(of.properties ?? {}, key));
      // Plain objects, as JSON.parse returns them.
      return fc.record(Object.fromEntries(values), { requiredKeys: required, noNullPrototype: true });
    }
  }
}

function texts({
  minLength = 0,
  maxLength = Math.max(minLength, 200),
  pattern,
}: Keywords): Arbitrary<string> {
  const plain = fc.string({ minLength, maxLength, unit: 'grapheme' });
  try {
    if (pattern !== undefined) return fc.stringMatching(new RegExp(pattern, 'u'));
  } catch {
    // fast-check cannot generate texts for every pattern.
  }
  return fc.oneof(
    plain,
    fc.string({ minLength, maxLength, unit: anyCharacter }),
    fc.lorem().map(sized(minLength, maxLength)),
  );
}

function sized(minLength: number, maxLength: number): (text: string) => string {
  return (text) => text.padEnd(minLength, text || ' ').slice(0, maxLength);
}

function numbers(of: Keywords, whole: boolean): Arbitrary<number> {
  const step = of.multipleOf ?? (whole ? 1 : undefined);
  const low = Math.max(of.minimum ?? -1e9, of.exclusiveMinimum ?? -1e9);
  const high = Math.max(low, Math.min(of.maximum ?? 1e9, of.exclusiveMaximum ?? 1e9));
  if (step === undefined) {
    const excluded = { minExcluded: low === of.exclusiveMinimum, maxExcluded: high === of.exclusiveMaximum };
    return low < high
      ? fc.double({ min: low, max: high, noNaN: true, ...excluded }).map((value) => value + 0)
      : fc.constant(low);
  }
  const first = Math.floor(low / step) + (low % step !== 0 || low === of.exclusiveMinimum ? 1 : 0);
  const last = Math.ceil(high / step) - (high % step !== 0 || high === of.exclusiveMaximum ? 1 : 0);
  return fc.integer({ min: first, max: Math.max(first, last) }).map((count) => count * step);
}

function lists(of: Keywords, each: (schema: unknown) => Arbitrary<unknown>): Arbitrary<unknown[]> {
  const first = (of.prefixItems ?? []).map(each);
  const minLength = Math.max(0, (of.minItems ?? 0) - first.length);
  const maxLength = Math.max(
    minLength,
    Math.min((of.maxItems ?? first.length + 4) - first.length, minLength + 4),
  );
  const settings = { minLength, maxLength };
  const item = each(of.items ?? {});
  const rest = of.uniqueItems
    ? fc.uniqueArray(item, { ...settings, selector: (value) => JSON.stringify(value) })
    : fc.array(item, settings);
  return fc.tuple(fc.tuple(...first), rest).map(([start, more]) => [...start, ...more]);
}

/** Roughly the conjunction of several schemas: good enough to generate candidates. */
function merge(schemas: Keywords[]): Keywords {
  const merged: Keywords = Object.assign({}, ...schemas);
  const properties = Object.assign({}, ...schemas.map((schema) => schema.properties ?? {}));
  if (Object.keys(properties).length > 0) merged.properties = properties;
  const required = schemas.flatMap((schema) => schema.required ?? []);
  if (required.length > 0) merged.required = [...new Set(required)];
  return merged;
}

function toObject(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}

function keyAt(args: Record<string, unknown>, at: number): string {
  const keys = Object.keys(args);
  return keys[at % Math.max(1, keys.length)] ?? 'missing';
}

function without(args: Record<string, unknown>, at: number): Record<string, unknown> {
  const { [keyAt(args, at)]: _, ...rest } = args;
  return rest;
}

function replaced(args: Record<string, unknown>, at: number, value: unknown): Record<string, unknown> {
  return added(args, keyAt(args, at), value);
}

function added(args: Record<string, unknown>, key: string, value: unknown): Record<string, unknown> {
  return Object.fromEntries([...Object.entries(args), [key, value]]);
}

/** Surrogates are half characters: code points from 0xd800 to 0xdfff. */
const firstSurrogate = 0xd800;
const surrogates = 0x800;

/**
 * For `fc.string({ unit: anyCharacter })`. It draws the characters of fast-check's unit `binary`, which takes two seconds for its
 * first text, because it lists all characters.
 */
export const anyCharacter: Arbitrary<string> = fc.nat(0x10ffff - surrogates).map(
  (place) => String.fromCodePoint(place < firstSurrogate ? place : place + surrogates),
  (text) => {
    const point = String(text).codePointAt(0) ?? firstSurrogate;
    const isSurrogate = point >= firstSurrogate && point < firstSurrogate + surrogates;
    if (isSurrogate || String.fromCodePoint(point) !== text) throw new Error('This is not a character.');
    return point < firstSurrogate ? point : point - surrogates;
  },
);
