/** Near-duplicates of two splits, compared with the definition that looks at every pair. */
import { createRng } from '@toolenv/core';
import { expect, test } from 'vitest';
import { nearDuplicates } from '../../src/certify/near-duplicates.ts';

const story = (name: string, goods: string) =>
  `On a cold morning in March, ${name} walked to the market by the river to buy ${goods} for the feast of the village elders.`;

test.each([
  ['letter case and punctuation', { q: 'Who is Ada?' }, { q: 'who is ada' }, true],
  ['a number of its own', { id: 7, q: 'Who is Ada?' }, { id: 8, q: 'Who is Ada?' }, true],
  ['another name in a short question', { q: 'Who is Ada?' }, { q: 'Who is Ben?' }, false],
  ['one other word of a story', { q: story('Ada', 'bread') }, { q: story('Ada', 'salt') }, true],
  [
    'another order of the values',
    { a: story('Ada', 'bread'), b: 1 },
    { b: 1, a: story('Ada', 'bread') },
    true,
  ],
  [
    'the story of somebody else',
    { q: story('Ada', 'bread') },
    { q: 'A long tale of a fox and a crow, who met in the woods at dusk and spoke of the moon.' },
    false,
  ],
])('%s', (_, train, test, isNear) => {
  expect(nearDuplicates([train], [test])).toEqual(isNear ? [{ test: 0, train: 0 }] : []);
});

test('tasks of one template differ by their rare words', () => {
  const tasks = Array.from({ length: 30 }, (_, index) => ({
    q: story(`Name${index} Family${index}`, `goods${index}`),
  }));
  expect(nearDuplicates(tasks.slice(0, 20), tasks.slice(20))).toEqual([]);
});

test('the index finds what a search of all pairs finds', () => {
  const words = Array.from({ length: 400 }, (_, index) => `word${index}`);
  const draw = (seed: number) => {
    const rng = createRng(seed, 'near');
    return Array.from({ length: 40 }, () => rng.pick(words));
  };
  const train = Array.from({ length: 60 }, (_, index) => draw(index));
  // Copies with zero to six other words, and tasks of their own.
  const test = Array.from({ length: 40 }, (_, index) => {
    const copy = [...(index % 2 === 0 ? train[index]! : draw(1000 + index))];
    for (let changed = 0; changed < index % 7; changed++) copy[changed * 5] = `new${index}-${changed}`;
    return copy;
  });
  const shared = (a: readonly string[], b: readonly string[]) => {
    const left = [...b];
    const count = a.filter((word) => {
      const at = left.indexOf(word);
      if (at >= 0) left.splice(at, 1);
      return at >= 0;
    }).length;
    return count / (a.length + b.length - count);
  };
  // `new3-1` is two words.
  const plain = (task: readonly string[]) => task.join(' ').match(/[a-z0-9]+/g)!;
  const expected = test.flatMap((task, index) => {
    const near = train.findIndex((other) => shared(plain(task), plain(other)) >= 0.9);
    return near < 0 ? [] : [{ test: index, train: near }];
  });
  expect(expected.length).toBeGreaterThan(5);
  expect(expected.length).toBeLessThan(20);
  expect(nearDuplicates(train, test)).toEqual(expected);
});
