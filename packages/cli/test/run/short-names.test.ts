/** The names of several environments. */
import { expect, test } from 'vitest';
import { shortNames } from '../../src/run/training-envs.ts';

test.each([
  [
    ['@toolenv/envs-qa/bridge-v1', '@toolenv/envs-qa/lookup-v1'],
    ['bridge-v1', 'lookup-v1'],
  ],
  // A path in the options is no part of the name.
  [
    ['p/hotpotqa-v1', 'p/musique-v1?path=data/dev.jsonl'],
    ['hotpotqa-v1', 'musique-v1'],
  ],
  [
    ['p/a-v1', 'p/a-v1?topK=3'],
    ['a-v1', 'a-v1?topK=3'],
  ],
  [
    ['p/a-v1?x=1/2', 'q/a-v1?x=1/2'],
    ['p/a-v1?x=1/2', 'q/a-v1?x=1/2'],
  ],
])('of %j are %j', (texts, names) => {
  expect(shortNames(texts)).toEqual(names);
});

test('an environment with the same options twice is refused', () => {
  expect(() => shortNames(['p/a-v1', 'p/b-v1', 'p/a-v1'])).toThrow(
    'p/a-v1 is named twice: give one of them other options.',
  );
});
