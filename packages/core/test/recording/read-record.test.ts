import { expect, test } from 'vitest';
import { readRecord } from '../../src/recording/read-record.ts';

test('an integer that a number would round is the text of its digits', () => {
  const text = '{"version": 1, "arguments": {"id": 2512292042121000001, "size": 100000000000000000000}}';
  const schema = { type: 'object', properties: { version: { type: 'integer' } } };
  expect(readRecord({ text, place: 'line 1' }, { kind: 'recording', schema, remedy: '' })).toEqual({
    version: 1,
    arguments: { id: '2512292042121000001', size: 1e20 },
  });
});
