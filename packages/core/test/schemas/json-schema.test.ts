import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, test, vi } from 'vitest';
import { validate, validateWithDefaults } from '../../src/schemas/index.ts';

test('a mistake names its path, what was expected and what was received', () => {
  const schema = {
    type: 'object',
    properties: { query: {}, k: { enum: [1, 2] } },
    required: ['query'],
    additionalProperties: false,
  };
  expect(validate(schema, { query: 'x', k: 1 })).toEqual([]);
  expect(validate(schema, { query: 'x', k: 3 })).toEqual([
    { path: '/k', expected: 'must be equal to one of the allowed values: [1,2]', received: '3' },
  ]);
  expect(validate(schema, {})[0]).toMatchObject({ path: '/query', received: 'nothing' });
  expect(validate(schema, { query: '', 'a/b': 7 })[0]).toMatchObject({ path: '/a~1b', received: '7' });
});

test('compiles draft-07 schemas and schemas that share an $id', () => {
  for (const type of ['string', 'number']) expect(validate({ $id: 'same', type }, true)).toHaveLength(1);
  const draft07 = { $schema: 'http://json-schema.org/draft-07/schema#', items: [{ type: 'string' }] };
  expect(validate(draft07, ['a'])).toEqual([]);
  expect(validate(draft07, [1])[0]).toMatchObject({ path: '/0', expected: 'must be string' });
});

test('compiles equal schemas once', () => {
  const compile = vi.spyOn(Ajv2020.prototype, 'compile');
  const fresh = (maximum: number) => ({ type: 'integer', maximum });
  for (let i = 0; i < 20; i++) expect(validate(fresh(3), 4)).toHaveLength(1);
  expect(compile).toHaveBeenCalledTimes(1);
  expect(validate(fresh(4), 4)).toEqual([]);
  expect(compile).toHaveBeenCalledTimes(2);
});

test('fills in defaults, nested defaults included', () => {
  const schema = { properties: { a: { default: 1 }, b: { default: {}, properties: { c: { default: 2 } } } } };
  const value = {};
  expect(validateWithDefaults(schema, value)).toEqual([]);
  expect(value).toEqual({ a: 1, b: { c: 2 } });
});

test.each([
  [{ type: 'string', minLength: 1 }, '', 'must have at least 1 character'],
  [{ type: 'string', maxLength: 2 }, 'abc', 'must have at most 2 characters'],
  [{ type: 'array', minItems: 2 }, [], 'must have at least 2 items'],
  [{ type: 'array', maxItems: 1 }, [1, 2], 'must have at most 1 item'],
  [{ type: 'object', minProperties: 1 }, {}, 'must have at least 1 property'],
])('says in plain words what %j expects', (schema, value, expected) => {
  expect(validate(schema, value)).toMatchObject([{ path: '', expected }]);
});
