import { execFileSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineToolEnv, openEnv, playTask, ToolEnvError } from '@toolenv/core';
import { readPrompts } from '@toolenv/core/recording';
import { mixEnvs, timeLimit, withPrompts } from '@toolenv/core/wrappers';
import { afterEach, beforeEach, expect, test } from 'vitest';

const greeter = defineToolEnv({
  name: 'greeter-v1',
  description: 'Says what it was told to say.',
  prompts: { system: 'Be brief.', hints: '' },
  tasks: { train: ['Ann', 'Bob'] },
  rewards: { said: { kind: 'outcome', score: ({ answer, prompt }) => Number(answer === prompt('hints')) } },
  episode: ({ task, prompt }) => ({
    messages: [
      { role: 'system', content: prompt('system') },
      { role: 'user', content: `Greet ${task}.` },
    ],
    onAnswer: (_, context) => ({ end: 'answered', info: { hints: context.prompt('hints') } }),
  }),
});

const firstText = ({ steps }: Awaited<ReturnType<typeof playTask>>) =>
  steps[0]!.observation.messages[0]!.content;

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'toolenv-prompts-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

test('an episode has the declared texts, or those that a run gives', async () => {
  await using own = await openEnv(greeter);
  expect(own.prompts).toEqual({ system: 'Be brief.', hints: '' });
  expect(firstText(await playTask(own, 'Ann', ['']))).toBe('Be brief.');

  await using other = await openEnv(greeter, {}, { prompts: { hints: 'Hello' } });
  expect(other.prompts).toEqual({ system: 'Be brief.', hints: 'Hello' });
  expect(other.identity).toEqual({ prompts: { hints: 'Hello' } });
  const episode = await playTask(other, 'Ann', ['Hello']);
  expect([firstText(episode), episode.reward, episode.steps[0]!.info.hints]).toEqual([
    'Be brief.',
    1,
    'Hello',
  ]);
});

test('texts reach the episode through wrappers, and the last given text counts', async () => {
  await using own = await openEnv(greeter);
  const limited = timeLimit(withPrompts(own, { system: 'One', hints: 'a' }), { turns: 3 });
  const twice = withPrompts(limited, { system: 'Two' });
  expect(twice.prompts).toEqual({ system: 'Two', hints: 'a' });
  expect(twice.identity).toEqual({ prompts: { system: 'Two', hints: 'a' } });
  const episode = await playTask(twice, 'Bob', ['a']);
  expect([firstText(episode), episode.reward]).toEqual(['Two', 1]);
  // The environment itself is as before.
  expect(firstText(await playTask(own, 'Bob', ['']))).toBe('Be brief.');
  expect(mixEnvs({ own, twice }).prompts).toBeUndefined();
});

test('a text that the environment does not declare is refused, with the nearest name', async () => {
  const code = (prompts: Record<string, unknown>) =>
    openEnv(greeter, {}, { prompts: prompts as Record<string, string> }).then(
      () => 'opened',
      (error: ToolEnvError) => error.message,
    );
  expect(await code({ sytem: 'x' })).toContain('no open text "sytem". Did you mean "system"?');
  expect(await code({ constructor: 'x' })).toContain('no open text "constructor"');
  expect(await code(JSON.parse('{"__proto__": "x"}'))).toContain('no open text "__proto__"');
  expect(await code({ system: 5 })).toContain('the text "system" is not a string');
  expect(await code({ system: 'x'.repeat(100_001) })).toContain('has 100001 characters');
});

test('an episode that asks for an undeclared text is a bug', async () => {
  const wrong = defineToolEnv({
    name: 'wrong-v1',
    description: 'Asks for a text that is not there.',
    tasks: { train: [1] },
    rewards: { done: { kind: 'outcome' } },
    episode: (context) => ({ messages: context.prompt('system' as never) }),
  });
  await expect(playTask(wrong, 1, [''])).rejects.toMatchObject({ code: 'bug.environment' });
});

test.each([
  ['absent.json', undefined, 'absent.json'],
  ['list.json', '["x"]', 'it is not an object of texts'],
  ['null.json', 'null', 'it is not an object of texts'],
  ['number.json', '{"system": 1}', 'the text "system" is not a string'],
  ['deep.json', `{"system": ${'['.repeat(1e5)}${']'.repeat(1e5)}}`, 'deep.json'],
  ['.', undefined, ''],
  ['broken.json', '{"system": ', 'broken.json'],
])('a file of texts that cannot be used is refused: %s', async (name, content, problem) => {
  const file = join(folder, name);
  if (content !== undefined) await writeFile(file, content);
  const error = await readPrompts(file).catch((thrown: unknown) => thrown);
  expect(ToolEnvError.isInstance(error) && error.code).toBe('usage.prompts_file');
  expect((error as Error).message).toContain(problem);
  expect((error as Error).message).toMatch(/^.{1,999}$/);
});

test('a pipe in place of a file of texts is refused', async () => {
  execFileSync('mkfifo', [join(folder, 'pipe')]);
  await expect(readPrompts(join(folder, 'pipe'))).rejects.toMatchObject({ code: 'usage.prompts_file' });
});

test('a file of texts is read', async () => {
  const file = join(folder, 'prompts.json');
  await writeFile(file, JSON.stringify({ system: 'Zwei\nZeilen' }));
  expect(await readPrompts(file)).toEqual({ system: 'Zwei\nZeilen' });
});
