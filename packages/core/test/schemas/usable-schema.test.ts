/** Schemas of others: drafts, regular expressions and keywords that cannot be checked here. */
import { describe, expect, test } from 'vitest';
import { leaveOutUnusable, validate } from '../../src/schemas/index.ts';

const places = (schema: Record<string, unknown>) => leaveOutUnusable(schema).map(({ path }) => path);
const property = (schema: object) => ({
  type: 'object',
  properties: { a: schema, b: { type: 'integer' } },
  required: ['b'],
});

describe('a constraint that cannot be checked is left out, and the others stay', () => {
  test.each([
    [
      'a regular expression without the flag u',
      { type: 'string', pattern: '^\\d{4}\\-\\d{2}$' },
      ['/pattern'],
    ],
    ['an escape of no syntax character', { type: 'string', pattern: '^[\\w.]+\\@\\w+$' }, ['/pattern']],
    ['a flag in the expression', { type: 'string', pattern: '(?i)^yes$' }, ['/pattern']],
    ['a type that JSON does not have', { type: 'any' }, ['/type']],
    ['`required` of draft-03', { type: 'string', required: true }, ['/required']],
    ['a bound that is a text', { type: 'integer', minimum: '0' }, ['/minimum']],
    ['an empty enum', { enum: [] }, ['/enum']],
    ['nullable without a type', { nullable: true, description: 'x' }, ['/nullable']],
    ['properties that are not an object', { type: 'object', properties: ['x'] }, ['/properties']],
    ['a reference to nothing', { $ref: '#/definitions/none' }, ['/$ref']],
    ['a reference to another document', { items: { $ref: 'https://example.org/x.json' } }, ['/items/$ref']],
    ['a schema that is a text', { anyOf: ['string'] }, ['/anyOf']],
    // A wider schema would refuse more here.
    ['a negation', { not: { pattern: '(?i)x' } }, ['/not/pattern']],
    [
      'one of several',
      { oneOf: [{ pattern: '\\@' }, { pattern: '\\-' }] },
      ['/oneOf/0/pattern', '/oneOf/1/pattern'],
    ],
    ['a condition', JSON.parse('{"if": {"pattern": "(?i)x"}, "then": {"maxLength": 0}}'), ['/if/pattern']],
    [
      'patterns of names',
      { patternProperties: { '(?i)x': {} }, additionalProperties: false },
      ['/patternProperties/(?i)x'],
    ],
  ])('%s', (_, schema, paths) => {
    const given = property(schema);
    const before = structuredClone(given);
    expect(() => validate(structuredClone(given), {})).toThrow();
    expect(places(given)).toEqual(paths.map((path) => `/properties/a${path}`));
    expect(given).toEqual(before);
    for (const a of ['anything', { x: 1 }, ['x']])
      expect(validate(given, { a, b: 1 }).filter(({ path }) => path !== '/a')).toEqual([]);
    expect(validate(given, { a: 'x', b: 'x' }).map(({ path }) => path)).toContain('/b');
    expect(validate(given, {})[0]).toMatchObject({ path: '/b' });
  });

  test('says why', () => {
    const [{ why } = { why: '' }] = leaveOutUnusable(property({ pattern: '(?i)x' }));
    expect(why).toMatch(/Invalid regular expression/);
  });

  test('an unknown format or keyword constrains nothing', () => {
    const schema = property({ type: 'string', format: 'phone', 'x-order': 1, example: 'x' });
    expect(places(schema)).toEqual([]);
    expect(validate(schema, { a: 1, b: 1 })).toHaveLength(1);
  });
});

describe('every draft is read', () => {
  test.each([
    'http://json-schema.org/draft-04/schema#',
    'http://json-schema.org/draft-06/schema#',
    'http://json-schema.org/draft-07/schema#',
    'http://json-schema.org/draft-07/schema',
    'https://json-schema.org/draft-07/schema#',
    'https://json-schema.org/draft-07/schema',
    'https://json-schema.org/draft/2019-09/schema',
    'https://json-schema.org/draft/2020-12/schema#',
    'http://json-schema.org/schema#',
  ])('%s', ($schema) => {
    const schema = {
      $schema,
      ...property({ $ref: '#/definitions/text' }),
      definitions: { text: { type: 'string' } },
    };
    expect(places(schema)).toEqual([]);
    expect(validate(schema, { a: 'x', b: 1 })).toEqual([]);
    expect(validate(schema, { a: 1, b: 1 })).toMatchObject([{ path: '/a', expected: 'must be string' }]);
    // Also of an author, whose mistakes throw.
    expect(validate(structuredClone(schema), { a: 1, b: 1 })).toHaveLength(1);
  });

  test('draft-04: `id`, exclusive bounds and lists of items', () => {
    const schema = {
      $schema: 'http://json-schema.org/draft-04/schema#',
      id: 'http://example.org/tool',
      type: 'object',
      properties: {
        n: { type: 'number', minimum: 0, exclusiveMinimum: true, maximum: 9, exclusiveMaximum: false },
        pair: { type: 'array', items: [{ type: 'string' }, { type: 'integer' }], additionalItems: false },
      },
      dependencies: { pair: ['n'] },
    };
    expect(places(schema)).toEqual([]);
    expect(validate(schema, { n: 9, pair: ['x', 1] })).toEqual([]);
    expect(validate(schema, { n: 0 })).toMatchObject([{ path: '/n', expected: 'must be > 0' }]);
    expect(validate(schema, { n: 1, pair: [1] })).toMatchObject([{ path: '/pair/0' }]);
    expect(validate(schema, { n: 1, pair: ['x', 1, 2] })).toHaveLength(1);
    expect(validate(schema, { pair: [] })).toHaveLength(1);
  });

  test('2019-09: recursion', () => {
    const schema = {
      $schema: 'https://json-schema.org/draft/2019-09/schema',
      $recursiveAnchor: true,
      type: 'object',
      properties: { child: { $recursiveRef: '#' }, n: { type: 'integer' } },
    };
    expect(places(schema)).toEqual([]);
    expect(validate(schema, { child: { child: { n: 1 } } })).toEqual([]);
    expect(validate(schema, { child: { child: { n: 'x' } } })).toMatchObject([{ path: '/child/child/n' }]);
  });
});
