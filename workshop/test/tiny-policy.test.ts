/** The plans and exercises of the tiny policy's training. */
import {
  bridgeQuestions,
  claimQuestions,
  comparisonQuestions,
  composeQuestions,
  createQuestions,
  createWorld,
  goldTitles,
} from '@toolenv/envs-qa';
import { expect, test } from 'vitest';
import { planOf } from '../tiny-policy/plan.ts';
import { readingExercises } from '../tiny-policy/reading-exercises.ts';

const world = createWorld(5);
const entities = new Map(world.parts.test.entities.map((entity) => [entity.name, entity]));

test.each([bridgeQuestions, composeQuestions])(
  'every $type question splits into one-hop questions',
  (family) => {
    const records = createQuestions(family, world, 'test');
    const broken = records.filter((record) => {
      const titles = goldTitles(record);
      const plan = planOf(record, entities);
      const hops = plan.map(({ title, think, found }, i) => {
        const last = i === plan.length - 1;
        return (
          title === titles[i] && think.includes(title) && found === (last ? record.answer : titles[i + 1])
        );
      });
      const shorter = plan.every(({ think }) => think.length < record.question.length);
      return plan.length !== titles.length || !hops.every(Boolean) || !shorter;
    });
    expect(records.length).toBe(800);
    expect(broken).toEqual([]);
  },
);

test('the plan of a claim ends with what its last document says and what it claims', () => {
  const records = createQuestions(claimQuestions([1, 2, 3]), world, 'test');
  for (const record of records) {
    const plan = planOf(record, entities);
    expect(plan.map(({ title }) => title)).toEqual(goldTitles(record));
    const { think, found } = plan.at(-1)!;
    const [stated, claimed] = think.slice(think.lastIndexOf('. ') + 2).split('; ');
    expect(stated).toBe(found);
    expect(record.question.endsWith(` ${claimed}?`)).toBe(true);
    expect(stated === claimed ? 'yes' : 'no', record.question).toBe(record.answer);
  }
});

test('the plan of every comparison ends with the two facts that decide it', () => {
  const records = createQuestions(comparisonQuestions, world, 'test');
  for (const record of records) {
    const plan = planOf(record, entities);
    expect(plan.map(({ title }) => title)).toEqual(goldTitles(record));
    const { think } = plan.at(-1)!;
    if (record.answer === 'yes' || record.answer === 'no') {
      const [a, b] = think.slice(think.lastIndexOf('. ') + 2).split('; ');
      expect(a === b ? 'yes' : 'no', record.question).toBe(record.answer);
      continue;
    }
    const facts = [...think.matchAll(/(\w+ \w+): (\d{4})\./g)].map(([, name, year]) => ({
      name,
      year: Number(year),
    }));
    expect(facts, record.question).toHaveLength(2);
    const byYear = facts.sort((a, b) => a.year - b.year).map(({ name }) => name);
    expect(byYear).toContain(record.answer);
    expect(think.endsWith(record.question)).toBe(true);
  }
});

test('reading exercises ask only for names in the document', () => {
  const exercises = readingExercises({ seed: 1, facts: false });
  for (let i = 0; i < 50; i++) {
    const { segments } = exercises.next().value;
    const [document, ...rest] = segments;
    expect(document!.label).toBe(false);
    const asked = rest.filter(({ label }) => label);
    for (const { text } of asked) expect(document!.text).toContain(text);
    expect(asked.length).toBeGreaterThanOrEqual(2);
    expect(asked.length).toBeLessThanOrEqual(4);
  }
});
