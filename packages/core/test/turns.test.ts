/** Work that takes turns never overlaps, keeps its order, and outlives work that failed. */
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { Turns } from '../src/turns.ts';

test('one after the other, in the order asked, whoever fails', async () => {
  const turns = new Turns();
  const events: string[] = [];
  const work = (name: string, milliseconds: number) => async () => {
    events.push(`${name} begins`);
    await delay(milliseconds);
    events.push(`${name} ends`);
    if (name === 'b') throw new Error('b failed');
    return name;
  };
  const results = await Promise.allSettled([
    turns.take(work('a', 20)),
    turns.take(work('b', 1)),
    turns.take(work('c', 5)),
  ]);
  expect(events).toEqual(['a begins', 'a ends', 'b begins', 'b ends', 'c begins', 'c ends']);
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
});
