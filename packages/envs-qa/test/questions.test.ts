import { createRng, type Split } from '@toolenv/core';
import {
  bridgeQuestions,
  claimQuestions,
  comparisonQuestions,
  composeQuestions,
  createQuestions,
  createWorld,
  goldTitles,
  lookupQuestions,
  type QaRecord,
  textOf,
  wordsOf,
  worldVocabulary,
} from '@toolenv/envs-qa';
import { describe, expect, test } from 'vitest';
import { questionCounts, questionSet } from '../src/question-set.ts';

const world = createWorld(7);
const splits: Split[] = ['train', 'validation', 'test'];
const texts = new Map(world.documents.map((document) => [document.title, textOf(document)]));
const vocabulary = new Set(worldVocabulary());
const claims = claimQuestions([1, 2, 3]);
const families = [lookupQuestions, bridgeQuestions, comparisonQuestions, composeQuestions, claims];
const sets = new Map(
  families.map(({ type, draw }) => [
    type,
    Object.fromEntries(
      splits.map((split) => [split, createQuestions({ type, draw }, world, split)]),
    ) as Record<Split, QaRecord[]>,
  ]),
);
const all = (type: string) => splits.flatMap((split) => sets.get(type)![split]);

describe.each(families)('$type questions', (family) => {
  const { type } = family;

  test('have the declared number, are all different, and depend only on the seed', () => {
    for (const split of splits) {
      const records = sets.get(type)![split];
      expect(records.length).toBe(questionCounts[split]);
      expect(new Set(records.map(({ question }) => question)).size).toBe(records.length);
      expect(new Set(records.map(({ _id }) => _id)).size).toBe(records.length);
    }
    expect(createQuestions(family, createWorld(7), 'validation')).toEqual(sets.get(type)!.validation);
  });

  test('are about entities of their own part', () => {
    for (const split of splits) {
      const own = new Set(world.parts[split].entities.map(({ name }) => name));
      const titles = sets.get(type)![split].flatMap((record) => record.context.map(([title]) => title));
      expect(titles.filter((title) => !own.has(title))).toEqual([]);
    }
  });

  test('have contexts with the supporting sentences and distractors', () => {
    const broken = all(type).filter((record) => {
      const context = new Map(record.context);
      const supported = record.supporting_facts.every(
        ([title, sentence]) =>
          context.get(title)?.[sentence] !== undefined && context.get(title)!.join(' ') === texts.get(title),
      );
      return !supported || context.size !== goldTitles(record).length + 4;
    });
    expect(broken).toEqual([]);
  });

  test('contain only words of the vocabulary', () => {
    const words = all(type).flatMap(({ question, answer }) => [...wordsOf(question), ...wordsOf(answer)]);
    expect(words.filter((word) => !vocabulary.has(word))).toEqual([]);
  });
});

describe.each(['lookup', 'bridge', 'compose'])('%s chains', (type) => {
  test('can be followed: each document names the next, and the last document names the answer', () => {
    const broken = all(type).filter(({ supporting_facts: facts, context, question, answer }) => {
      const sentences = new Map(context);
      const linked = facts.every(([title, sentence], i) =>
        sentences.get(title)![sentence]!.includes(facts[i + 1]?.[0] ?? answer),
      );
      const named = facts.map(([title]) => question.includes(title));
      return !linked || !named[0] || named.slice(1).includes(true);
    });
    expect(broken).toEqual([]);
  });

  test('contain the answer only in their last document', () => {
    const early = all(type).filter((record) => {
      const before = goldTitles(record).slice(0, -1);
      return [record.question, ...before.map((title) => texts.get(title)!)].some((text) =>
        text.includes(record.answer),
      );
    });
    expect(early).toEqual([]);
  });

  test('have many different answers, none of them frequent', () => {
    const counts = new Map<string, number>();
    for (const { answer } of sets.get(type)!.test) counts.set(answer, (counts.get(answer) ?? 0) + 1);
    expect(counts.size).toBeGreaterThan(300);
    expect(Math.max(...counts.values()) / questionCounts.test).toBeLessThan(0.03);
  });
});

test('bridge questions have two hops; compose questions have three or four in equal parts', () => {
  expect(all('bridge').every((record) => goldTitles(record).length === 2)).toBe(true);
  const hops = all('compose').map((record) => goldTitles(record).length);
  expect(hops.filter((count) => count === 3).length).toBe(hops.length / 2);
  expect(hops.filter((count) => count === 4).length).toBe(hops.length / 2);
});

describe('claims', () => {
  test.each(splits)('are right in half of the cases at each number of hops in %s', (split) => {
    for (const hops of [1, 2, 3]) {
      const records = sets.get('claims')![split].filter((record) => goldTitles(record).length === hops);
      expect(Math.abs(records.length - questionCounts[split] / 3)).toBeLessThan(1);
      const right = records.filter(({ answer }) => answer === 'yes').length;
      expect(Math.abs(right - records.length / 2)).toBeLessThanOrEqual(1);
    }
  });

  test('are right exactly if the last document says so, and name an entity of the same kind otherwise', () => {
    const entities = new Map(world.parts.test.entities.map((entity) => [entity.name, entity]));
    for (let number = 0; number < 600; number++) {
      const draft = claims.draw(world.parts.test, number, createRng(number));
      if (!draft) continue;
      const { question, answer, facts } = draft;
      const { document, fact } = facts.at(-1)!;
      const target = entities.get(document.title)!.links[fact]!;
      const claimed = entities.get(/(\w+ \w+)\?$/.exec(question)![1]!)!;
      expect(claimed.kind).toBe(target.kind);
      expect(answer, question).toBe(claimed === target ? 'yes' : 'no');
      expect(facts.slice(1).map((each) => each.document.title)).toEqual(
        facts.slice(0, -1).map((each) => entities.get(each.document.title)!.links[each.fact]!.name),
      );
    }
  });
});

describe('comparison questions', () => {
  test.each(splits)(
    'balance the positions of answers and yes/no in %s, so that guessing does not help',
    (split) => {
      const records = sets.get('comparison')![split];
      const yesNo = records.filter(({ answer }) => answer === 'yes' || answer === 'no');
      expect(yesNo.length).toBe(records.length / 2);
      expect(yesNo.filter(({ answer }) => answer === 'yes').length).toBe(yesNo.length / 2);
      const which = records.filter(({ answer }) => answer !== 'yes' && answer !== 'no');
      const first = which.filter(({ question, answer }) => question.includes(`${answer} or `));
      expect(first.length).toBe(which.length / 2);
      for (const documents of [2, 4]) {
        const sort = which.filter((record) => goldTitles(record).length === documents);
        expect(sort.filter((record) => first.includes(record)).length).toBe(sort.length / 2);
      }
    },
  );

  test('have the answer that follows from their facts', () => {
    const part = world.parts.test;
    const entities = new Map(part.entities.map((entity) => [entity.name, entity]));
    const rng = createRng(5);
    const wrong = Array.from({ length: 2000 }, (_, number) => {
      const draft = comparisonQuestions.draw(part, number, rng);
      if (!draft) return [];
      const { question, answer, facts } = draft;
      const values = facts.map(({ document, fact }) => {
        const entity = entities.get(document.title)!;
        return String(fact === 'year' ? entity.year : entity.links[fact]!.name);
      });
      const stated = facts.every(({ document, fact }, i) =>
        document.sentences[document.factSentence[fact]!]!.includes(values[i]!),
      );
      const half = facts.length / 2;
      const [a, b] = [values[half - 1]!, values.at(-1)!];
      const chained =
        half === 1 || (values[0] === facts[1]!.document.title && values[2] === facts[3]!.document.title);
      const firstWins = a > b === /later|younger/.test(question);
      const winner = facts[firstWins ? 0 : half]!.document.title;
      const expected = /^(Wh|Which)/.test(question) ? winner : a === b ? 'yes' : 'no';
      return stated && chained && answer === expected ? [] : [draft];
    });
    expect(wrong.flat()).toEqual([]);
  });
});

test('gives the same questions when they are drawn as they are read', () => {
  const world = createWorld(7);
  const { length, get } = questionSet(comparisonQuestions, world, 'validation');
  const whole = createQuestions(comparisonQuestions, world, 'validation');
  expect(length).toBe(whole.length);
  const indexes = [3, 0, whole.length - 1, 3, 100];
  expect(indexes.map((index) => get(index))).toEqual(indexes.map((index) => whole[index]));
});

test('generates a world and its questions quickly', () => {
  const before = process.cpuUsage();
  const fresh = createWorld(createRng(3).int(1000));
  for (const split of splits) createQuestions(bridgeQuestions, fresh, split);
  const { user } = process.cpuUsage(before);
  // Takes about 150 ms of CPU time, in microseconds here.
  expect(user).toBeLessThan(3e6);
});
