/** Random JSON Schemas of what a grammar can say. */
import type { JsonSchema, Rng } from '@toolenv/core';

const odd = [
  'plain',
  'a "quote"',
  'back\\slash',
  '😀 é',
  'line\nbreak',
  '</tool_call>',
  '[ARGS]',
  '<|python_tag|>',
  '',
  '\u0000',
];

/** @param depth Levels of arrays and objects at most. */
export function randomSchema(rng: Rng, depth: number): JsonSchema {
  const scalars = [stringSchema, numberSchema, enumSchema, nullableSchema];
  if (depth === 0 || rng.int(3) > 0) return rng.pick(scalars)(rng);
  const kind = rng.int(4);
  if (kind === 0) return arraySchema(rng, depth - 1);
  if (kind === 1) return { anyOf: [randomSchema(rng, depth - 1), randomObject(rng, depth - 1)] };
  if (kind === 2)
    return { oneOf: [{ const: rng.pick(odd) }, { type: 'integer' }, randomObject(rng, depth - 1)] };
  return randomObject(rng, depth - 1);
}

export function randomObject(rng: Rng, depth: number): JsonSchema {
  const names = ['query', 'k', ...odd].slice(rng.int(3), 3 + rng.int(4));
  // Random names hardly ever are the required ones.
  const isOpen = rng.int(3) === 0;
  const required = names.filter(() => !isOpen && rng.int(2) === 0);
  return {
    type: 'object',
    properties: Object.fromEntries(names.map((name) => [name, randomSchema(rng, depth)])),
    required,
    ...(isOpen && { additionalProperties: { type: 'boolean' } }),
  };
}

function stringSchema(rng: Rng): JsonSchema {
  const minLength = rng.int(3);
  return {
    type: 'string',
    ...rng.pick([{}, { minLength }, { minLength, maxLength: minLength + rng.int(4) }]),
  };
}

const numberSchema = (rng: Rng): JsonSchema => ({ type: rng.pick(['integer', 'number']) });
const nullableSchema = (rng: Rng): JsonSchema => ({ type: [rng.pick(['string', 'boolean']), 'null'] });
const enumSchema = (rng: Rng): JsonSchema => ({
  enum: [rng.pick(odd), rng.pick(odd), rng.int(100), null, [1, { a: 'b' }]],
});

function arraySchema(rng: Rng, depth: number): JsonSchema {
  const items = randomSchema(rng, depth);
  const minItems = rng.int(3);
  const prefixItems = [randomSchema(rng, depth), { type: 'integer' }];
  return {
    type: 'array',
    ...rng.pick([{ items }, { items, minItems, maxItems: minItems + 1 }, { prefixItems, items: false }]),
  };
}
