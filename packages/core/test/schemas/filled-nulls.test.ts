/** Nulls with which Arrow fills missing fields. */
import { expect, test } from 'vitest';
import { withoutFilledNulls, withoutNulls } from '../../src/schemas/index.ts';

test('withoutNulls leaves out null properties at any depth, and keeps items of lists', () => {
  const value = { a: null, b: { c: null, d: 0 }, e: [null, { f: null }], args: { g: null } };
  expect(withoutNulls(value, 'args')).toEqual({ b: { d: 0 }, e: [null, {}], args: { g: null } });
  expect(withoutNulls({ args: null }, 'args')).toEqual({});
});

const schema = {
  type: 'object',
  properties: {
    city: { type: 'string' },
    unit: { type: 'string' },
    state: { type: ['string', 'null'] },
    zip: { anyOf: [{ type: 'string' }, { type: 'null' }] },
    any: {},
    own: { $ref: '#/$defs/own' },
    place: { type: 'object', properties: { x: { type: 'number' }, y: { type: 'number' } } },
    stops: { type: 'array', items: { type: 'object', properties: { at: { type: 'string' } } } },
  },
  required: ['city'],
  $defs: { own: { type: 'string' } },
};

test('withoutFilledNulls keeps nulls that the schema requires or allows', () => {
  const filled = {
    ...{ city: null, unit: null, state: null, zip: null, any: null, own: null },
    ...{ place: { x: 1, y: null }, stops: [{ at: null }], other: null, more: { deep: null } },
  };
  const kept = { city: null, state: null, zip: null, any: null, own: null, place: { x: 1 }, stops: [{}] };
  expect(withoutFilledNulls(schema, filled)).toEqual({ ...kept, other: null, more: { deep: null } });
  expect(withoutFilledNulls(schema, filled, 'drop')).toEqual({ ...kept, more: {} });
  const open = { ...schema, additionalProperties: true };
  expect(withoutFilledNulls(open, filled, 'drop')).toMatchObject({ other: null, more: { deep: null } });
});
