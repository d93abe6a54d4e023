/** The form of a tool: its fields, and the arguments that they give. */
import { expect, it } from 'vitest';
import { argumentsOf, fieldsOf } from '../page/play/arguments-of.ts';

const schema = {
  type: 'object',
  properties: {
    query: { type: 'string', description: 'what to look for' },
    limit: { type: 'integer' },
    exact: { type: 'boolean' },
    order: { enum: ['up', 2, null] },
    filter: { type: 'object' },
    any: {},
  },
  required: ['query', 'order'],
};

it('has a field for each property', () => {
  expect(fieldsOf(schema).map(({ name, kind, isRequired }) => [name, kind, isRequired])).toEqual([
    ['query', 'text', true],
    ['limit', 'number', false],
    ['exact', 'boolean', false],
    ['order', 'choice', true],
    ['filter', 'json', false],
    ['any', 'json', false],
  ]);
  expect(fieldsOf({ type: 'object' })).toEqual([]);
});

it('gives values of the types, and leaves out what is empty', () => {
  const fields = fieldsOf(schema);
  expect(argumentsOf(fields, {})).toEqual({ query: '' });
  const written = { query: '7', limit: '3', exact: 'false', order: '2', filter: '{"year":1990}', any: '[1]' };
  expect(argumentsOf(fields, written)).toEqual({
    query: '7',
    limit: 3,
    exact: false,
    order: null,
    filter: { year: 1990 },
    any: [1],
  });
  expect(() => argumentsOf(fields, { filter: '{' })).toThrow(SyntaxError);
  for (const [name, text] of [
    ['limit', '2512292042121000001'],
    ['filter', '{"id": 2512292042121000001}'],
  ] as const)
    expect(() => argumentsOf(fields, { [name]: text })).toThrow(
      '2512292042121000001 is beyond ±9007199254740991',
    );
  expect(
    argumentsOf(fields, { limit: '0.12345678901234567', filter: '"2512292042121000001"' }),
  ).toMatchObject({
    filter: '2512292042121000001',
  });
});
