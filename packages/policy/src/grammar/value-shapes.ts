/** valueShapes: what a JSON Schema allows, as shapes of JSON that a grammar can follow. */
import type { JsonSchema } from '@toolenv/core';
import { argumentBounds } from '@toolenv/core/schemas';
import { type FlatSchema, flatSchemas, tooHard } from './flat-schemas.ts';

/** A value: one of several shapes. */
export interface Value {
  readonly id: number;
  shapes: Shape[];
  /** Levels of arrays and objects that the value needs at least; infinite if no finite value fits. */
  height: number;
}

export type Shape =
  /** One of some texts of JSON. */
  | { kind: 'listed'; texts: string[] }
  | { kind: 'string'; min: number; max: number }
  | { kind: 'number'; isInteger: boolean }
  | ArrayShape
  | ObjectShape;

export interface ArrayShape {
  kind: 'array';
  /** The first items. */
  first: Value[];
  /** The items after them; `undefined` if there are none. */
  rest: Value | undefined;
  min: number;
  max: number;
}

export interface ObjectShape {
  kind: 'object';
  properties: { name: string; value: Value; isRequired: boolean }[];
  /** Properties of other names; `undefined` if there are none. */
  rest: Value | undefined;
}

/** Levels of a call's arguments. */
export const maxLevels: number = argumentBounds.depth;
/** The work for a schema: the characters of the schemas in it, each with all that it holds, and its properties, items and listed values. */
const most = { characters: 8 * 2 ** 20, parts: 20_000 };
const allTypes = ['string', 'number', 'boolean', 'null', 'array', 'object'];

/**
 * The shapes of a tool's arguments. Properties that a schema does not list are allowed if it says so, or lists none: a model should not
 * invent names.
 * @throws ToolEnvError `usage.constrain_calls` for a schema that is too large, has references that lead elsewhere, or allows nothing.
 */
export function valueShapes(schema: JsonSchema): Value {
  /** By the text of the schema, so that recursive schemas end. */
  const values = new Map<string, Value>();
  const left = { ...most };
  const toValue = (given: unknown): Value => {
    const text = JSON.stringify(given) ?? 'true';
    const known = values.get(text);
    if (known) return known;
    const value: Value = { id: values.size, shapes: [], height: Number.POSITIVE_INFINITY };
    values.set(text, value);
    left.characters -= text.length;
    if (left.characters < 0) throw tooHard('it is too large');
    const shapes = flatSchemas(given, schema).flatMap((flat) => shapesOf(flat, toValue));
    value.shapes = [...new Map(shapes.map((shape) => [textOf(shape), shape])).values()];
    left.parts -= value.shapes.reduce((sum, shape) => sum + partsOf(shape), 0);
    if (left.parts < 0) throw tooHard(`it has more than ${most.parts} properties, items and listed values`);
    return value;
  };
  const whole = toValue({ allOf: [{ type: 'object' }, schema] });
  measure([...values.values()]);
  if (whole.height > maxLevels) throw tooHard('it allows no arguments');
  return whole;
}

/** A text that equal shapes share. */
function textOf(shape: Shape): string {
  return JSON.stringify(shape, (_, part) => (part && Object.hasOwn(part, 'height') ? part.id : part));
}

function partsOf(shape: Shape): number {
  if (shape.kind === 'listed') return shape.texts.length;
  if (shape.kind === 'object') return 1 + shape.properties.length;
  return shape.kind === 'array' ? 1 + shape.first.length : 1;
}

function shapesOf(flat: FlatSchema, toValue: (schema: unknown) => Value): Shape[] {
  const types = [flat.type ?? impliedTypes(flat)].flat();
  if (flat.enum) {
    const listed = flat.enum.filter((value) => types.some((type) => isOfType(value, type)));
    return listed.length > 0 ? [{ kind: 'listed', texts: listed.map((value) => JSON.stringify(value)) }] : [];
  }
  return types.flatMap((type): Shape[] => {
    if (type === 'string') return [{ kind: 'string', ...bounds(flat.minLength, flat.maxLength) }];
    if (type === 'number' || type === 'integer') return [{ kind: 'number', isInteger: type === 'integer' }];
    if (type === 'array') return [arrayOf(flat, toValue)];
    if (type === 'object') return [objectOf(flat, toValue)];
    return [{ kind: 'listed', texts: type === 'boolean' ? ['true', 'false'] : ['null'] }];
  });
}

function impliedTypes(flat: FlatSchema): string[] {
  if (flat.properties ?? flat.required ?? flat.additionalProperties) return ['object'];
  return (flat.items ?? flat.prefixItems) ? ['array'] : allTypes;
}

function isOfType(value: unknown, type: string): boolean {
  if (type === 'integer') return Number.isInteger(value);
  if (type === 'null') return value === null;
  if (type === 'array') return Array.isArray(value);
  if (type === 'object') return typeof value === 'object' && value !== null && !Array.isArray(value);
  return typeof value === type;
}

function arrayOf(flat: FlatSchema, toValue: (schema: unknown) => Value): ArrayShape {
  // Draft-07 wrote prefixItems as a list of items.
  const isList = Array.isArray(flat.items);
  const first = ((isList ? flat.items : flat.prefixItems) ?? []) as unknown[];
  const rest = isList ? flat.additionalItems : flat.items;
  return {
    kind: 'array',
    first: first.map(toValue),
    rest: rest === false ? undefined : toValue(rest),
    ...bounds(flat.minItems, flat.maxItems),
  };
}

function objectOf(flat: FlatSchema, toValue: (schema: unknown) => Value): ObjectShape {
  const { properties = {}, required = [], additionalProperties } = flat;
  const isOpen =
    additionalProperties !== undefined ? additionalProperties !== false : flat.properties === undefined;
  const others = required.filter((name) => !Object.hasOwn(properties, name));
  const listed = [
    ...Object.entries(properties),
    ...others.map((name) => [name, additionalProperties] as const),
  ];
  return {
    kind: 'object',
    properties: listed.map(([name, own]) => ({
      name,
      value: toValue(own),
      isRequired: required.includes(name),
    })),
    rest: isOpen ? toValue(additionalProperties) : undefined,
  };
}

function bounds(min: unknown, max: unknown): { min: number; max: number } {
  return { min: Number(min ?? 0), max: Number(max ?? Number.POSITIVE_INFINITY) };
}

/** Finds the heights of all values: the least solution, from scalars up. */
function measure(values: readonly Value[]): void {
  for (let level = 0; level <= maxLevels; level++) {
    let isChanged = false;
    for (const value of values) {
      if (value.height <= level) continue;
      if (value.shapes.every((shape) => heightOf(shape) > level)) continue;
      value.height = level;
      isChanged = true;
    }
    if (!isChanged && level > 0) return;
  }
}

/** Levels that the shape needs at least. */
export function heightOf(shape: Shape): number {
  if (shape.kind === 'array') {
    if (shape.min > shape.max) return Number.POSITIVE_INFINITY;
    const needed =
      shape.min > shape.first.length ? [...shape.first, shape.rest] : shape.first.slice(0, shape.min);
    return 1 + highest(needed);
  }
  if (shape.kind === 'object')
    return 1 + highest(shape.properties.flatMap((each) => (each.isRequired ? each.value : [])));
  return shape.kind === 'string' && shape.min > shape.max ? Number.POSITIVE_INFINITY : 0;
}

function highest(values: readonly (Value | undefined)[]): number {
  return Math.max(0, ...values.map((value) => value?.height ?? Number.POSITIVE_INFINITY));
}
