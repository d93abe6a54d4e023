/** Near-duplicates: the estimate of the similarity, and which tasks are kept. */
import { createRng } from '@toolenv/core';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { KeptSignatures, signatureOf, similarity } from '../../src/traffic/near-duplicates.ts';
import { allTasks, made, talk } from './recorded.ts';

const wordsOf = (rng: ReturnType<typeof createRng>, count: number) =>
  Array.from({ length: count }, () => `w${rng.int(5_000)}`);

/** Exact Jaccard similarity of the sets of three words. */
function jaccard(one: string[], other: string[]): number {
  const shingles = (words: string[]) =>
    new Set(words.slice(2).map((_, n) => words.slice(n, n + 3).join(' ')));
  const [a, b] = [shingles(one), shingles(other)];
  const both = [...a].filter((each) => b.has(each)).length;
  return both / (a.size + b.size - both);
}

test('the estimate is as near to the exact similarity as its standard error says', () => {
  const rng = createRng(1, 'estimates');
  let squares = 0;
  const pairs = 200;
  for (let n = 0; n < pairs; n++) {
    const one = wordsOf(rng, 60);
    const other = one.map((word) => (rng.int(60) < n / 10 ? `x${rng.int(5_000)}` : word));
    const error = similarity(signatureOf(one.join(' ')), signatureOf(other.join(' '))) - jaccard(one, other);
    expect(Math.abs(error)).toBeLessThan(5 * 0.0442);
    squares += error ** 2;
  }
  expect(Math.sqrt(squares / pairs)).toBeLessThan(0.0442);
});

test('of every two kept texts none is too similar, and every other text is too similar to a kept one', () => {
  fc.assert(
    fc.property(
      fc.array(fc.array(fc.integer({ min: 0, max: 3 }), { maxLength: 12 }), { minLength: 2, maxLength: 30 }),
      fc.constantFrom(0.5, 0.66, 0.8, 0.9, 1),
      (texts, threshold) => {
        const signatures = texts.map((words) => signatureOf(words.join(' ')));
        const keeping = new KeptSignatures(threshold);
        const isKept = signatures.map((signature) => keeping.add(signature, ''));
        const kept = signatures.filter((_, n) => isKept[n]);
        for (const [n, signature] of signatures.entries()) {
          const near = kept.filter(
            (other) => other !== signature && similarity(signature, other) >= threshold,
          );
          expect(near.length > 0).toBe(!isKept[n]);
        }
      },
    ),
    { numRuns: 300 },
  );
});

test('texts of other letter case, white space or script are compared by their words', () => {
  const near = (one: string, other: string) => similarity(signatureOf(one), signatureOf(other));
  expect(near('How long is the Sea?', 'how  long\nis the sea?')).toBe(1);
  expect(near('Compute 3 + 4.', 'Compute 3 - 4.')).toBeLessThan(0.5);
  expect(near('この文章はとても長いです。', 'この文章はとても短いです。')).toBeGreaterThan(0.3);
  expect(near('', 'word')).toBe(0);
  expect(near('', ' ')).toBe(1);
});

test('tasks are near-duplicates by the words of the user, unless their tools differ', async () => {
  const long =
    'Find the report of the meeting in March, and write a summary of its five main points for the board, please';
  const system = {
    role: 'system',
    content: 'A long instruction that all tasks of the agent share. '.repeat(20),
  };
  const ask = (question: string, tool = 'search') => ({
    messages: [system, { role: 'user', content: question }, { role: 'assistant', content: 'Done.' }],
    tools: [{ type: 'function', function: { name: tool } }],
  });
  const lines = [ask(`${long}.`), ask(`${long}!`), ask('Delete it.'), ask(`${long}.`, 'browse')];
  const counts = async (nearDuplicates?: number) => {
    const { summary, ...rest } = await made(lines, { nearDuplicates });
    return [allTasks({ summary, ...rest }).length, summary.duplicates, summary.nearDuplicates];
  };
  expect(await counts()).toEqual([4, 0, 0]);
  expect(await counts(0.8)).toEqual([3, 0, 1]);
  expect(await counts(1)).toEqual([4, 0, 0]);
  expect((await made([talk('A'), talk(' a ')], { nearDuplicates: 1 })).summary.nearDuplicates).toBe(1);
});
