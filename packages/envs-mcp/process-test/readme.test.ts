/** The README's episode happens as it says. */
import { readFile } from 'node:fs/promises';
import { isParseFailure, openEnv, playTask } from '@toolenv/core';
import { expect, test } from 'vitest';
import files from '../src/files-v1.ts';

const readme = readFile(new URL('../README.md', import.meta.url), 'utf8');

test('the episode', async () => {
  const env = await openEnv(files, {}, { seed: 1 });
  const all = await Promise.all(Array.from({ length: 50 }, (_, index) => env.tasks.test.get(index)));
  const task = all.find(({ prompt }) => prompt.startsWith('Write the sum'))!;
  const path = Object.keys(task.files)[0]!;
  const { steps, reward } = await playTask(env, task, [
    [{ name: 'read_text_file', arguments: { path } }],
    [{ name: 'write_file', arguments: { path: 'total.txt', content: task.gold['total.txt'] } }],
    'Done.',
  ]);
  await env.close();
  const lines = [`user: ${steps[0]!.observation.messages[0]!.content}`];
  for (const { action, calls } of steps) {
    if (action.text) lines.push(`assistant: ${action.text}`);
    for (const { call, text } of calls) {
      if (isParseFailure(call)) continue;
      lines.push(`assistant: ${call.name}(${JSON.stringify(call.arguments)})`, `tool: ${text}`);
    }
  }
  expect(await readme).toContain(`\`\`\`text\n${lines.join('\n')}\nreward: ${reward}\n\`\`\``);
});
