/** newRings: what the page rings for. */
import { expect, test } from 'vitest';
import { newRings } from '../page/new-rings.ts';
import type { RunOverview } from '../src/overview/run-overview.ts';

const overview = (kind: 'running' | 'done' | 'crashed', ...faults: string[]) =>
  ({
    status: { kind },
    diagnoses: faults.map((fault) => ({ name: fault, fault })),
  }) as unknown as RunOverview;

test('a run that goes on rings for a new diagnosis and for its end, once', () => {
  const before = { a: overview('running', 'rewards are equal') };
  const texts = (now: RunOverview) => newRings(before, { a: now }).map(({ text }) => text);
  expect(texts(overview('running', 'rewards are equal'))).toEqual([]);
  expect(texts(overview('running', 'rewards are equal', 'calls fail'))).toEqual(['Calls fail']);
  expect(texts(overview('crashed', 'rewards are equal', 'calls fail'))).toEqual([
    'Calls fail',
    'It is crashed.',
  ]);
  expect(newRings({ a: overview('crashed') }, { a: overview('crashed', 'calls fail') })).toEqual([]);
});

test('runs that were not known, and runs that are read after their end, do not ring', () => {
  expect(newRings({}, { a: overview('running', 'calls fail') })).toEqual([]);
  expect(newRings({ a: overview('done') }, { a: overview('done', 'calls fail') })).toEqual([]);
});
