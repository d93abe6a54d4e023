/** A JSON Schema as alternatives without references: the part of a schema that says what a grammar can say. */
import { type JsonSchema, ToolEnvError } from '@toolenv/core';
import { resolvePointer } from '@toolenv/core/schemas';

/** A schema without `$ref`, `allOf`, `anyOf` and `oneOf`, and with `const` as `enum`. */
export type FlatSchema = JsonSchema & {
  type?: string | string[];
  enum?: unknown[];
  properties?: Record<string, unknown>;
  required?: string[];
};

/** References that follow each other. */
const maxHops = 32;
/** Combinations of the alternatives of a schema. */
const maxAlternatives = 512;

/**
 * The alternatives of a schema: a value that one of them allows is a value that the schema allows, as far as types, properties,
 * items, lengths and listed values say. Those of `oneOf` may overlap.
 * @param root Where references point.
 * @throws ToolEnvError `usage.constrain_calls`.
 */
export function flatSchemas(schema: unknown, root: JsonSchema, hops = 0): FlatSchema[] {
  if (schema === undefined || schema === true) return [{}];
  if (schema === false) return [];
  if (typeof schema !== 'object' || schema === null)
    throw tooHard('a schema is neither an object nor a boolean');
  if (hops > maxHops) throw tooHard('references lead to each other without an end');
  const { $ref, allOf = [], anyOf, oneOf, const: only, ...own } = schema as JsonSchema;
  const into = (each: unknown) => flatSchemas(each, root, hops + 1);
  const flat: FlatSchema = only === undefined ? own : merged(own, { enum: [only] })!;
  const parts = [
    [flat],
    ...($ref === undefined ? [] : [into(targetOf(String($ref), root))]),
    ...(allOf as unknown[]).map(into),
    ...[anyOf, oneOf].map((choices) => (choices === undefined ? [{}] : (choices as unknown[]).flatMap(into))),
  ];
  return parts.reduce<FlatSchema[]>(
    (combined, alternatives) => {
      if (combined.length * alternatives.length > maxAlternatives)
        throw tooHard(`alternatives have more than ${maxAlternatives} combinations`);
      return combined.flatMap((a) => alternatives.flatMap((b): FlatSchema[] => [merged(a, b) ?? []].flat()));
    },
    [{}],
  );
}

function targetOf(reference: string, root: JsonSchema): unknown {
  const [, pointer] = /^#((?:\/.*)?)$/.exec(reference) ?? [];
  const target = pointer === undefined ? undefined : resolvePointer(root, decodeURIComponent(pointer));
  if (target === undefined)
    throw tooHard(`the reference "${reference}" does not lead into the schema itself`);
  return target;
}

/** A schema for the values that both allow; `undefined` if there are none. */
function merged(a: FlatSchema, b: FlatSchema): FlatSchema | undefined {
  const both: FlatSchema = { ...b, ...a };
  for (const keyword of Object.keys(both)) {
    const [x, y] = [a[keyword], b[keyword]];
    if (x === undefined || y === undefined) continue;
    if (keyword === 'properties') both.properties = mergedProperties(x as object, y as object);
    else if (keyword === 'required') both.required = [...new Set([...(x as string[]), ...(y as string[])])];
    else if (keyword === 'items' || keyword === 'additionalProperties') both[keyword] = conjunction(x, y);
    else if (/^min/.test(keyword)) both[keyword] = Math.max(Number(x), Number(y));
    else if (/^max/.test(keyword)) both[keyword] = Math.min(Number(x), Number(y));
    else if (keyword === 'type') both.type = commonTypes([x].flat() as string[], [y].flat() as string[]);
    else if (keyword === 'enum') {
      const known = new Set((y as unknown[]).map((value) => JSON.stringify(value)));
      both.enum = (x as unknown[]).filter((value) => known.has(JSON.stringify(value)));
    }
  }
  return both.type?.length === 0 || both.enum?.length === 0 ? undefined : both;
}

function commonTypes(a: readonly string[], b: readonly string[]): string[] {
  const has = (types: readonly string[], type: string) =>
    types.includes(type) || (type === 'integer' && types.includes('number'));
  return [...new Set([...a, ...b])].filter((type) => has(a, type) && has(b, type));
}

function mergedProperties(a: object, b: object): Record<string, unknown> {
  const both = new Map(Object.entries(b));
  for (const [name, schema] of Object.entries(a))
    both.set(name, both.has(name) ? conjunction(schema, both.get(name)) : schema);
  return Object.fromEntries(both);
}

function conjunction(a: unknown, b: unknown): unknown {
  return JSON.stringify(a) === JSON.stringify(b) ? a : { allOf: [a, b] };
}

/** @param what Is too hard for a grammar. */
export function tooHard(what: string): ToolEnvError {
  return new ToolEnvError('usage.constrain_calls', what);
}
