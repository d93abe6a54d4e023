/** A skill stands at the end of the system message, in every observation of the first conversation, and is an open text. */
import { createHash } from 'node:crypto';
import { defineToolEnv, type Observation, openEnv, playTask } from '@toolenv/core';
import { withPrompts, withSkill } from '@toolenv/core/wrappers';
import { expect, test } from 'vitest';

const guess = (system?: string) =>
  defineToolEnv({
    name: 'guess-v1',
    description: 'Guess.',
    limits: { maxTurns: 3 },
    tasks: { test: [{ word: 'oak' }] },
    rewards: { right: { kind: 'outcome', score: ({ answer, task }) => Number(answer === task.word) } },
    prompts: { hint: 'It is a tree.' },
    episode: ({ task, prompt }) => ({
      messages: [
        ...(system === undefined ? [] : [{ role: 'system' as const, content: system }]),
        { role: 'user', content: prompt('hint') },
      ],
      onAnswer: (answer) => (answer === task.word ? { end: 'right' } : 'No.'),
    }),
  });

const skill = { name: 'trees', text: 'Say oak.' };

async function seen(env: Awaited<ReturnType<typeof openEnv>>): Promise<Observation[]> {
  const { steps, reward } = await playTask(env, env.tasks.test.get(0), ['elm', 'oak']);
  expect(reward).toBe(1);
  return steps.map(({ observation }) => observation);
}

test('the skill follows the system message, before and after a reply', async () => {
  await using env = await openEnv(guess('Be brief.') as never);
  const [first, second] = await seen(withSkill(env, skill));
  const system = { role: 'system', content: 'Be brief.\n\n# Skill: trees\n\nSay oak.' };
  expect(first!.messages).toEqual([system, { role: 'user', content: 'It is a tree.' }]);
  expect(second!.messages.slice(0, 2)).toEqual(first!.messages);
  expect(second!.messages).toHaveLength(4);
  // The environment itself is as it was.
  expect((await seen(env))[0]!.messages[0]!.content).toBe('Be brief.');
});

test('without a system message, the skill is the system message', async () => {
  await using env = await openEnv(guess() as never);
  const [first] = await seen(withSkill(env, skill));
  expect(first!.messages[0]).toEqual({ role: 'system', content: '# Skill: trees\n\nSay oak.' });
  expect(first!.messages).toHaveLength(2);
});

test('its text is an open text beside those of the environment, and it belongs to the identity of a run', async () => {
  await using env = await openEnv(guess() as never);
  const skilled = withSkill(env, skill);
  expect(skilled.prompts).toEqual({ hint: 'It is a tree.', skill: 'Say oak.' });
  const sha256 = createHash('sha256').update('Say oak.').digest('hex');
  expect(skilled.identity).toEqual({ skill: { name: 'trees', sha256 } });
  const other = withPrompts(skilled, { skill: 'Name a tree.', hint: 'It is old.' });
  const [first] = await seen(other);
  expect(first!.messages.map(({ content }) => content)).toEqual([
    '# Skill: trees\n\nName a tree.',
    'It is old.',
  ]);
});

test('a text that is too long is refused', async () => {
  await using env = await openEnv(guess() as never);
  expect(() => withSkill(env, { name: 'long', text: 'x'.repeat(100_001) })).toThrow(
    expect.objectContaining({ code: 'usage.bad_prompt' }),
  );
});
