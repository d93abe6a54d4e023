import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createRng, openEnv, playTask, type Scripted, type Split } from '@toolenv/core';
import { recordEnv, replayEnv } from '@toolenv/core/recording';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { drawTask } from '../src/terminal/folder-tasks.ts';
import terminal from '../src/terminal/terminal-v1.ts';

type Env = Awaited<ReturnType<typeof openEnv<ReturnType<typeof drawTask>, object>>>;
let env: Env;
beforeAll(async () => {
  env = (await openEnv(terminal, {}, { from: import.meta.dirname })) as Env;
});
afterAll(() => env.close());

const task = {
  prompt: 'Write the sum of a.txt into sum.txt.',
  files: { 'a.txt': '1\n2\n', 'b/c.txt': 'x\n' },
  gold: { 'a.txt': '1\n2\n', 'b/c.txt': 'x\n', 'sum.txt': '3\n' },
  commands: [],
};
const bash = (command: string): Scripted => [{ name: 'bash', arguments: { command } }];

test.each([
  ['the sum', 'echo 3 > sum.txt', { files: 1, kept: 1 }],
  ['the sum without a line end', 'printf 3 > sum.txt; mkdir empty', { files: 1, kept: 1 }],
  ['a wrong sum', 'echo 4 > sum.txt', { files: 0, kept: 1 }],
  ['nothing', 'true', { files: 0, kept: 1 }],
  ['another file too', 'echo 3 > sum.txt; echo > extra', { files: 0, kept: 1 }],
  ['a changed file', 'echo 3 > sum.txt; echo y > b/c.txt', { files: 0, kept: 0 }],
  ['a lost folder', 'echo 3 > sum.txt; rm -r b', { files: 0, kept: 0 }],
  ['a link', 'echo 3 > /tmp/s; ln -s /tmp/s sum.txt', { files: 0, kept: 1 }],
  ['a folder of that name', 'mkdir sum.txt', { files: 0, kept: 1 }],
  ['everything deleted', 'rm -rf /work', { files: 0, kept: 0 }],
  ['too many files', 'echo 3 > sum.txt; for i in $(seq 600); do echo > f$i; done', { files: 0, kept: 0 }],
  [
    'deep folders',
    'echo 3 > sum.txt; mkdir -p 1/2/3/4/5/6/7/8/9/10; echo > 1/2/3/4/5/6/7/8/9/10/f',
    { files: 0, kept: 0 },
  ],
  ['a file named __proto__', 'echo 3 > sum.txt; echo 3 > __proto__', { files: 0, kept: 1 }],
])('the files at the end are judged after %s', async (_, command, rewards) => {
  const played = await playTask(env, task, [bash(command), 'Done.']);
  expect(played.rewards).toEqual(rewards);
});

test('no combination belongs to two splits', () => {
  const seen = new Map<string, Split>();
  const commands = (split: Split, index: number) => {
    const { commands } = drawTask(createRng(1, split, index), split);
    return commands.join().replace(/\d+|\.(txt|log|md|cfg)\b|\b(notes|logs|plans\/old|plans)\b/g, '#');
  };
  for (const split of ['train', 'validation', 'test'] as const)
    for (let index = 0; index < 300; index++) {
      const key = commands(split, index).replace(/urgent|archive|review|Bern|Cork|Lyon|Oslo/g, '@');
      expect(seen.get(key) ?? split).toBe(split);
      seen.set(key, split);
    }
  expect(new Set(seen.values()).size).toBe(3);
});

test('two episodes with one id have files of their own', async () => {
  const [first, second] = [env.episode(), env.episode()];
  await first.reset({ task, seed: 1 });
  await second.reset({ task, seed: 1 });
  const act = (command: string) => ({
    text: '',
    toolCalls: [{ id: '1', name: 'bash', arguments: { command } }],
    stopReason: 'tool_call' as const,
  });
  await first.step(act('echo 3 > sum.txt'));
  const { calls } = await second.step(act('ls'));
  expect(calls[0]!.text).toBe('a.txt\nb');
  await second.close();
  const { rewards } = await first.step({ text: 'Done.', toolCalls: [], stopReason: 'stop' });
  expect(rewards).toEqual({ files: 1, kept: 1 });
  await first.close();
});

test('a recorded episode is scored the same without a sandbox', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'toolenv-terminal-'));
  const file = join(folder, 'calls.jsonl');
  for (const make of [recordEnv, replayEnv]) {
    const tap = await make(file);
    // Replayed, no sandbox of this name is looked for.
    const sandbox = make === recordEnv ? '@toolenv/sandbox/virtual-v1' : 'no-such-sandbox';
    const opened = await openEnv(terminal, { sandbox }, { from: import.meta.dirname, tap });
    const played = await playTask(opened, task, [bash('echo 3 > sum.txt'), 'Done.']);
    expect(played.rewards).toEqual({ files: 1, kept: 1 });
    await opened.close();
    await tap.finish();
  }
  await rm(folder, { recursive: true });
});
