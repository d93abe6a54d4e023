/** usableSchema: what can be checked here of a schema that others wrote, perhaps in another draft or for other regular expressions. */
import type { JsonSchema } from '../protocol/json-schema.ts';
import { escapeKey } from './json-pointer.ts';
import { isObject } from './json-text.ts';

/** Compiles a schema. Returns why it cannot be compiled; `undefined` if it can. */
export type TryCompile = (schema: JsonSchema) => string | undefined;

/** A constraint that cannot be checked: its place in the schema, and why. */
export interface LeftOut {
  path: string;
  why: string;
}

/** Keywords by what they hold (JSON Schema 2020-12, Core §10; `definitions`, `dependencies` and `additionalItems` of older drafts). */
const schemaIn = new Set(
  'items contains additionalItems additionalProperties propertyNames not if then else unevaluatedItems unevaluatedProperties'.split(
    ' ',
  ),
);
const schemasIn = new Set(['allOf', 'anyOf', 'oneOf', 'prefixItems']);
const namedSchemasIn = new Set([
  'properties',
  'patternProperties',
  '$defs',
  'definitions',
  'dependentSchemas',
  'dependencies',
]);
/** A reference can only be compiled in its schema, and a name only there is a name. */
const references = new Set(['$ref', '$dynamicRef', '$id', '$anchor', '$dynamicAnchor']);
/** A wider schema in these may refuse more. */
const wider = new Set(['not', 'if', 'oneOf', 'contains']);
/** Of other drafts, without a meaning here. */
const foreign = new Set(['$schema', 'id', '$recursiveAnchor', '$vocabulary']);

/**
 * A copy of the schema that compiles, without the constraints that do not: a regular expression that JavaScript does not know, a keyword
 * with a value that it cannot have, a reference to nothing. What older drafts write in another way is rewritten: lists in `items`,
 * `true` in `exclusiveMinimum`, `$recursiveRef`.
 * @param tryCompile Of the draft of the schema.
 */
export function usableSchema(
  schema: JsonSchema,
  tryCompile: TryCompile,
): { schema: JsonSchema; leftOut: LeftOut[] } {
  const missing = new Set<string>();
  for (;;) {
    const leftOut: LeftOut[] = [];
    const usable = walk(schema, '', { tryCompile, leftOut, missing });
    const why = tryCompile(usable);
    if (why === undefined) return { schema: usable, leftOut };
    const [, reference] = /can't resolve reference (\S+)/.exec(why) ?? [];
    if (reference === undefined || missing.has(reference))
      return { schema: {}, leftOut: [...leftOut, { path: '', why }] };
    missing.add(reference);
  }
}

interface Walk {
  tryCompile: TryCompile;
  leftOut: LeftOut[];
  /** References to nothing. */
  missing: Set<string>;
}

function walk(given: JsonSchema, path: string, context: Walk): JsonSchema {
  const { tryCompile, leftOut, missing } = context;
  const usable: Record<string, unknown> = {};
  const schema = modern(given);
  const all = leftOut.length;
  for (const [keyword, value] of Object.entries(schema)) {
    const at = `${path}/${escapeKey(keyword)}`;
    const before = leftOut.length;
    if (foreign.has(keyword)) continue;
    if (references.has(keyword) && typeof value === 'string') {
      if (missing.has(value)) leftOut.push({ path: at, why: `nothing is at ${value}` });
      else usable[keyword] = value;
    } else if (schemaIn.has(keyword) && isSchema(value)) usable[keyword] = part(value, at, context);
    else if (schemasIn.has(keyword) && Array.isArray(value) && value.length > 0 && value.every(isSchema))
      usable[keyword] = value.map((each, index) => part(each, `${at}/${index}`, context));
    else if (namedSchemasIn.has(keyword) && isObject(value))
      usable[keyword] = named(keyword, value, at, context);
    else {
      // It says nothing without a type.
      const { type } = keyword === 'nullable' ? schema : {};
      const why = tryCompile({ ...(type !== undefined && { type }), [keyword]: value });
      if (why === undefined) usable[keyword] = value;
      else leftOut.push({ path: at, why });
    }
    if (wider.has(keyword) && leftOut.length > before) delete usable[keyword];
  }
  // What has not been looked at must not be refused as an additional property or item.
  if (size(usable.patternProperties) < size(schema.patternProperties)) delete usable.additionalProperties;
  if (leftOut.length > all) {
    delete usable.unevaluatedProperties;
    delete usable.unevaluatedItems;
  }
  return usable;
}

function named(
  keyword: string,
  schemas: Record<string, unknown>,
  path: string,
  context: Walk,
): Record<string, unknown> {
  const usable: [string, unknown][] = [];
  for (const [name, value] of Object.entries(schemas)) {
    const at = `${path}/${escapeKey(name)}`;
    const isList = keyword === 'dependencies' && Array.isArray(value);
    const why =
      keyword === 'patternProperties' || isList || !isSchema(value)
        ? context.tryCompile({ [keyword]: { [name]: isSchema(value) ? {} : value } })
        : undefined;
    if (why !== undefined) context.leftOut.push({ path: at, why });
    else usable.push([name, isSchema(value) ? part(value, at, context) : value]);
  }
  return Object.fromEntries(usable);
}

function part(schema: JsonSchema | boolean, path: string, context: Walk): JsonSchema | boolean {
  return typeof schema === 'boolean' ? schema : walk(schema, path, context);
}

/** The schema itself, written as JSON Schema 2020-12 writes it. */
function modern(schema: JsonSchema): JsonSchema {
  const { items, additionalItems, $recursiveRef, ...rest } = schema;
  const changed: Record<string, unknown> = { ...rest };
  if (Array.isArray(items)) {
    if (items.length > 0) changed.prefixItems = items;
    if (additionalItems !== undefined) changed.items = additionalItems;
  } else if (items !== undefined) changed.items = items;
  if (typeof $recursiveRef === 'string') changed.$ref = $recursiveRef;
  for (const [exclusive, bound] of [
    ['exclusiveMinimum', 'minimum'],
    ['exclusiveMaximum', 'maximum'],
  ] as const) {
    if (typeof changed[exclusive] !== 'boolean') continue;
    if (changed[exclusive] && changed[bound] !== undefined) changed[exclusive] = changed[bound];
    else delete changed[exclusive];
  }
  return changed;
}

function isSchema(value: unknown): value is JsonSchema | boolean {
  return typeof value === 'boolean' || isObject(value);
}

function size(value: unknown): number {
  return Object.keys(Object(value)).length;
}
