/** What the tiny policy is taught. */
import { bridgeQuestions, createQuestions, createWorld, goldTitles } from '@toolenv/envs-qa';
import { Chat, readCheckpoint } from '@toolenv/policy';
import { expect, test } from 'vitest';
import { readingExercises } from '../tiny-policy/reading-exercises.ts';
import { subQuestions } from '../tiny-policy/sub-questions.ts';

test('every bridge question falls into two one-hop questions', () => {
  const records = createQuestions(bridgeQuestions, createWorld(5), 'test');
  const broken = records.filter((record) => {
    const [subject, bridge] = goldTitles(record) as [string, string];
    const [phrase, rest] = subQuestions(record);
    const whole = record.question.includes(phrase) && phrase.includes(subject);
    return (
      !whole || !rest.includes(bridge) || rest.includes(subject) || rest.length >= record.question.length
    );
  });
  expect(records.length).toBe(800);
  expect(broken).toEqual([]);
});

test('reading exercises ask for names that the document holds, and for nothing else', async () => {
  const chat = new Chat(await readCheckpoint('tiny-policy/checkpoint'));
  const exercises = readingExercises(chat, 1);
  for (let i = 0; i < 50; i++) {
    const { tokens, mask } = exercises.next().value;
    const document = chat.decode(tokens.subarray(0, mask.indexOf(1)));
    let asked = 0;
    for (let t = 0; t < mask.length; t++) {
      if (mask[t] !== 1 || mask[t - 1] === 1) continue;
      const end = mask.indexOf(0, t);
      expect(document).toContain(chat.decode(tokens.subarray(t, end)).trim());
      asked += 1;
    }
    expect(asked).toBeGreaterThanOrEqual(2);
    expect(asked).toBeLessThanOrEqual(4);
  }
});
