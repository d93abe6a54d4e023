/** Environments follow the rules of the spec for a thousand fuzzed actions. */
import { assertConforms, checkEnv } from '@toolenv/testing';
import { expect, test } from 'vitest';
import arithmetic from '../src/arithmetic-v1.ts';
import bank from '../src/bank-v1.ts';
import wordle from '../src/wordle-v1.ts';

test.each([
  ['arithmetic', arithmetic],
  ['bank', bank],
  ['wordle', wordle],
])('%s', async (_, env) => {
  const { skipped } = await assertConforms(checkEnv<never, never>(env as never));
  // They have no tools of others that could fail or hang.
  expect(skipped.map(({ rule }) => rule)).toEqual(['ENV-30', 'ENV-31']);
});
