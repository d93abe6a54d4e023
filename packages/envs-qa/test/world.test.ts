import type { Split } from '@toolenv/core';
import { createWorld, textOf, wordsOf, worldVocabulary } from '@toolenv/envs-qa';
import { expect, test } from 'vitest';

const world = createWorld(1);
const splits: Split[] = ['train', 'validation', 'test'];

test('has the declared number of entities, each with a unique name', () => {
  expect(splits.map((split) => world.parts[split].entities.length)).toEqual([2000, 400, 800]);
  expect(new Set(world.documents.map(({ title }) => title)).size).toBe(3200);
  expect(world.documents.every(({ title }) => /^[A-Z][a-z]+ [A-Z][a-z]+$/.test(title))).toBe(true);
});

test('depends only on its seed', () => {
  expect(createWorld(1).documents).toEqual(world.documents);
  expect(createWorld(2).documents[0]).not.toEqual(world.documents[0]);
});

test('has no links or mentions between its parts', () => {
  const namesOf = (text: string) => text.match(/[A-Z][a-z]+ [A-Z][a-z]+/g) ?? [];
  for (const split of splits) {
    const own = new Set(world.parts[split].entities.map(({ name }) => name));
    const others = new Set(world.documents.map(({ title }) => title).filter((title) => !own.has(title)));
    for (const { links, rival, document } of world.parts[split].entities) {
      const linked = [...Object.values(links), rival].map(({ name }) => name);
      expect(linked.filter((name) => !own.has(name))).toEqual([]);
      expect(namesOf(textOf(document)).filter((name) => others.has(name))).toEqual([]);
    }
  }
});

test('has short documents that name each target in the sentence of its fact', () => {
  const lengths = world.documents.map((document) => textOf(document).split(' ').length);
  expect(Math.min(...lengths)).toBeGreaterThanOrEqual(20);
  expect(Math.max(...lengths)).toBeLessThanOrEqual(34);
  const mean = lengths.reduce((sum, length) => sum + length) / lengths.length;
  expect(mean).toBeGreaterThan(26);
  expect(mean).toBeLessThan(29);
  for (const { entities } of Object.values(world.parts)) {
    for (const { name, links, document } of entities) {
      expect(document.sentences[0]).toContain(name);
      for (const [relation, target] of Object.entries(links)) {
        expect(document.sentences[document.factSentence[relation]!]).toContain(target.name);
      }
    }
  }
});

test('has rivals that usually share a word of the name, and documents that mention them', () => {
  const all = splits.flatMap((split) => world.parts[split].entities);
  const alike = all.filter(({ name, rival }) =>
    name.split(' ').some((word) => rival.name.split(' ').includes(word)),
  );
  expect(alike.length / all.length).toBeGreaterThan(0.95);
  const mentioned = all.filter(({ rival, document }) => textOf(document).includes(rival.name));
  expect(mentioned.length / all.length).toBeGreaterThan(0.15);
});

test('has a small and closed vocabulary', () => {
  const vocabulary = new Set(worldVocabulary());
  expect(vocabulary.size).toBe(578);
  for (const seed of [1, 2, 3]) {
    const unknown = createWorld(seed).documents.flatMap((document) =>
      wordsOf(textOf(document)).filter((word) => !vocabulary.has(word)),
    );
    expect(unknown).toEqual([]);
  }
});
