/** Encoded examples: the tokens of episodes that were played, and plain texts. */
import { collect, openEnv, rollout } from '@toolenv/core';
import { toTrainingRows } from '@toolenv/training';
import { expect, onTestFinished, test } from 'vitest';
import { loadPolicy } from '../../src/transformer-policy.ts';
import { expectSame } from '../expect-same.ts';

async function openTiny() {
  const policy = await loadPolicy('packages/checkpoints/tiny');
  onTestFinished(() => policy.close());
  return policy;
}

test('the conversation of an episode becomes the tokens that the episode sampled', async () => {
  const policy = await openTiny();
  const env = await openEnv('@toolenv/envs-qa/bridge-v1', { topK: 2 });
  const episodes = Array.from({ length: 12 }, (_, group) => ({
    task: env.tasks.test.get(group),
    group,
    sample: 0,
  }));
  const sampling = { maxTokens: 64, temperature: 0 };
  const played = await collect(rollout({ env, policy, episodes, sampling, concurrency: 12, seed: 1 }));
  let turns = 0;
  for (const trajectory of played) {
    const { observation, action } = trajectory.steps.at(-1)!;
    const toolCalls = action.toolCalls.filter((call) => 'id' in call);
    const messages = [
      ...observation.messages,
      { role: 'assistant' as const, content: action.text, toolCalls },
    ];
    const rows = policy.encode({ messages, tools: observation.tools });
    const sampled = toTrainingRows(trajectory);
    expectSame(
      rows.map(({ tokens }) => tokens),
      sampled.map(({ tokens }) => tokens),
    );
    expectSame(
      rows.map(({ mask }) => mask),
      sampled.map(({ mask }) => mask),
    );
    expectSame(
      rows.map(({ turns }) => turns),
      sampled.map(({ turns }) => turns),
    );
    turns += trajectory.steps.length;
  }
  expect(turns).toBe(24);
});

test('plain text is learned where it says so, and its end too', async () => {
  const policy = await openTiny();
  const { chat } = policy;
  const [end] = chat.endTokens;
  const given = [
    { text: 'Who leads', learn: false },
    { text: ' the company', learn: true },
  ];
  const [row] = policy.encode({ segments: given, ends: true });
  const [asked, learned] = given.map(({ text }) => [...chat.encode(text)]);
  expect([...row!.tokens]).toEqual([...asked!, ...learned!, end]);
  expect([...row!.mask]).toEqual([...asked!.map(() => 0), ...learned!.map(() => 1), 1]);
  expect([...row!.turns]).toEqual([...asked!.map(() => -1), ...learned!.map(() => 0), 0]);

  // Nothing predicts the first token of a text.
  const [whole] = policy.encode({ segments: [{ text: 'Who leads', learn: true }], ends: false });
  expect([...whole!.mask]).toEqual(asked!.map((_, t) => Number(t > 0)));
  expect(policy.encode({ segments: [{ text: 'Who leads', learn: false }], ends: true })).toEqual([]);
});

test('a conversation ends with its last turn, and has no row without a turn', async () => {
  const policy = await openTiny();
  const question = { role: 'user' as const, content: 'Who leads?' };
  const answer = { role: 'assistant' as const, content: '<answer>unknown</answer>' };
  const [row] = policy.encode({ messages: [question, answer], tools: [] });
  const [longer] = policy.encode({ messages: [question, answer, question], tools: [] });
  expect(longer).toEqual(row);
  expect(row!.mask.at(-1)).toBe(1);
  expect(policy.encode({ messages: [question], tools: [] })).toEqual([]);
});
