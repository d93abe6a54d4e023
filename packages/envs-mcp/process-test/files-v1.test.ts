import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type EnvHandle, openEnv, playTask, type Script, type Scripted, type Split } from '@toolenv/core';
import { recordEnv, replayEnv, type ToolTap } from '@toolenv/core/recording';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { drawTask, type FilesTask } from '../src/files/draw-task.ts';
import files from '../src/files-v1.ts';

const anyTask = fc
  .tuple(fc.nat(), fc.constantFrom<Split>('train', 'validation', 'test'), fc.nat(999))
  .map(([seed, split, index]) => drawTask(seed, split, index));

describe('a task', () => {
  test('asks for a change, which its oracle makes with as few calls as files change', () => {
    fc.assert(
      fc.property(anyTask, (task) => {
        const { files: before, gold } = task;
        const changed = Object.keys(gold).filter((path) => before[path] !== gold[path]);
        expect(changed.length).toBeGreaterThan(0);
        const calls = (files.oracle!(task) as Scripted[]).flat().filter((call) => typeof call === 'object');
        const made = calls.map((call) => 'name' in call && call.name);
        const isNew = made.includes('create_directory');
        expect(made).toHaveLength(changed.length + Number(isNew));
        expect(isNew).toBe(task.prompt.includes('new folder'));
        for (const content of Object.values(gold)) expect(content).toBe(content.trimEnd());
      }),
      { numRuns: 1000 },
    );
  });

  test('of each kind occurs, and no file of one split has a name of another', () => {
    const tasks = (split: Split) => Array.from({ length: 200 }, (_, index) => drawTask(1, split, index));
    expect(new Set(tasks('train').map(({ prompt }) => prompt.slice(0, 12))).size).toBe(4);
    const topics = (split: Split) =>
      new Set(
        tasks(split)
          .flatMap((task) => Object.keys(task.files))
          .map(topicOf),
      );
    const sets = (['train', 'validation', 'test'] as const).map(topics);
    expect(sets.map(({ size }) => size)).toEqual([10, 6, 8]);
    expect(new Set(sets.flatMap((set) => [...set])).size).toBe(24);
  });
});

test('a recorded episode is replayed without a server, with the same reward', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'toolenv-files-test-'));
  const task = drawTask(1, 'test', 0);
  const play = async (tap: ToolTap) => {
    const env = await openEnv(files, {}, { tap });
    const played = await playTask(env, task, files.oracle!(task)!);
    await env.close();
    await tap.finish();
    return played;
  };
  try {
    const recorded = await play(recordEnv(join(folder, 'calls.jsonl')));
    const replayed = await play(await replayEnv(join(folder, 'calls.jsonl')));
    expect(recorded.reward).toBe(1);
    expect(replayed.rewards).toEqual(recorded.rewards);
    const said = ({ steps }: typeof recorded) => steps.map(({ observation }) => observation);
    expect(said(replayed)).toEqual(said(recorded));
  } finally {
    await rm(folder, { recursive: true });
  }
});

function topicOf(path: string): string {
  return /([a-z]+)\.\w+$/.exec(path)![1]!;
}

describe('an episode', () => {
  let env: EnvHandle<FilesTask>;
  beforeAll(async () => {
    env = await openEnv(files);
  });
  afterAll(() => env.close());

  const play = (task: FilesTask, script: readonly Scripted[] | Script) => playTask(env, task, script);
  const call = (name: string, args: Record<string, unknown>) => [{ name, arguments: args }];
  const task: FilesTask = {
    prompt: 'Write the sum of all euros in boat.csv into a new file total.txt, the number alone.',
    files: { 'boat.csv': 'person,euros\nAda,12\nBen,30', 'notes/roof.md': 'Ada' },
    gold: { 'boat.csv': 'person,euros\nAda,12\nBen,30', 'notes/roof.md': 'Ada', 'total.txt': '42' },
  };

  test('with the gold folder at its end earns 1, whatever white space ends a file', async () => {
    const { steps, reward, outcome } = await play(task, [
      call('list_directory', { path: '.' }),
      call('read_text_file', { path: 'boat.csv' }),
      call('write_file', { path: 'total.txt', content: '42\n' }),
      'Done.',
    ]);
    const texts = steps.map(({ calls }) => calls[0]?.text);
    expect(texts[0]!.split('\n').sort()).toEqual(['[DIR] notes', '[FILE] boat.csv']);
    expect(texts.slice(1)).toEqual([task.files['boat.csv'], 'Successfully wrote to total.txt', undefined]);
    expect(outcome).toEqual({ kind: 'terminated', reason: 'answered' });
    expect(reward).toBe(1);
  });

  test.each<[string, Record<string, string>]>([
    ['no change', {}],
    ['another content', { 'total.txt': '43' }],
    ['another name', { 'sum.txt': '42' }],
    ['one more file', { 'total.txt': '42', 'notes/total.txt': '42' }],
    ['a file overwritten', { 'total.txt': '42', 'boat.csv': '' }],
    ['a name that the server cannot read', { 'total.txt': '42', './C:': '42' }],
  ])('with %s earns 0', async (_, written) => {
    const calls = Object.entries(written).map(([path, content]) => call('write_file', { path, content }));
    expect((await play(task, [...calls, 'Done.'])).reward).toBe(0);
  });

  test.each([0, 1, 2, 3])('of task %i is won by the oracle', async (index) => {
    const kinds = ['Move all ', 'Write the sum', 'In all ', 'Write the names'];
    const all = await Promise.all(Array.from({ length: 50 }, (_, i) => env.tasks.test.get(i)));
    const drawn = all.find(({ prompt }) => prompt.startsWith(kinds[index]!))!;
    const { rewards, outcome } = await play(drawn, files.oracle!(drawn) as Scripted[]);
    expect(outcome.kind).toBe('terminated');
    expect(rewards).toEqual({ folder: 1 });
  });

  test('shows errors without the path of its folder, and nothing outside of it', async () => {
    const { steps } = await play(task, [
      call('read_text_file', { path: 'none.txt' }),
      call('read_text_file', { path: '/etc/hosts' }),
      call('read_text_file', { path: '../x' }),
      call('write_file', { path: 'notes', content: '42' }),
      call('search_files', { path: '.', pattern: '**/*.md' }),
      call('get_file_info', { path: 'boat.csv' }),
      call('write_file', { path: 'total.txt' }),
      'Done.',
    ]);
    const texts = steps.map(({ calls }) => calls[0]?.text);
    expect(texts[0]).toBe("Error: ENOENT: no such file or directory, open 'none.txt'");
    expect(texts[1]).toBe('Error: Access denied - path outside allowed directories: /etc/hosts not in .');
    expect(texts[2]).toBe('Error: Access denied - path outside allowed directories: ../x not in .');
    expect(texts[3]).toBe("Error: EISDIR: illegal operation on a directory, rename 'notes.tmp' -> 'notes'");
    expect(texts[4]).toBe('notes/roof.md');
    expect(steps[5]!.calls[0]!.mistake).toMatchObject({ code: 'unknown_tool' });
    expect(steps[6]!.calls[0]!.mistake).toMatchObject({ code: 'invalid_arguments', path: '/content' });
  });
});
