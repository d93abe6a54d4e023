/** The tools of the roles `shell` and `files`, over a sandbox that an environment shares between them. */
import { existsSync } from 'node:fs';
import { createRng, type Tool } from '@toolenv/core';
import { assertConforms, checkTool } from '@toolenv/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import bash from '../src/bash-v1.ts';
import files from '../src/files-v1.ts';
import { createBash, createFiles, createPython, EpisodeSandboxes } from '../src/index.ts';
import { openTwins } from '../test/twins.ts';

async function ask(tool: Tool<never>, args: object, episodeId = 'one') {
  const signal = new AbortController().signal;
  const result = await tool.execute(args as never, {
    episodeId,
    signal,
    rng: createRng(1, 'x'),
    callIndex: 0,
  });
  return {
    text: (result.content[0] as { text: string }).text,
    isError: result.isError === true,
    mistake: result.mistake,
  };
}

describe('over one sandbox', () => {
  let sandboxes: EpisodeSandboxes;
  let shell: Tool<{ command: string }>;
  let editor: Awaited<ReturnType<typeof createFiles>>;
  beforeAll(async () => {
    sandboxes = new EpisodeSandboxes('@toolenv/sandbox/virtual-v1', {
      prepare: (sandbox, episodeId) => sandbox.write('task.txt', `task of ${episodeId}\n`),
    });
    shell = await createBash({ sandboxes });
    editor = await createFiles({ sandboxes });
  });
  afterAll(() => sandboxes.close());

  test('the shell says what a command wrote and how it ended', async () => {
    expect((await ask(shell, { command: 'cat task.txt' })).text).toBe('task of one');
    expect((await ask(shell, { command: 'true' })).text).toBe('[no output]');
    expect((await ask(shell, { command: 'echo a; echo b >&2; exit 3' })).text).toBe('a\nb\n[exit code 3]');
    expect((await ask(shell, { command: 'cat task.txt' }, 'two')).text).toBe('task of two');
    await sandboxes.release('two');
  });

  test('files are written, edited, read and searched where the shell works', async () => {
    const path = 'src/a.txt';
    expect((await ask(editor, { action: 'write', path, content: 'one\ntwo\none\n' })).text).toBe(
      'src/a.txt: written.',
    );
    const twice = await ask(editor, { action: 'edit', path, old: 'one', content: 'x' });
    expect(twice).toMatchObject({ isError: true, text: expect.stringContaining('more than once') });
    const none = await ask(editor, { action: 'edit', path, old: 'none', content: 'x' });
    expect(none).toMatchObject({ isError: true, text: expect.stringContaining('not in it') });
    await ask(editor, { action: 'edit', path, old: 'two\n', content: "it's $two\n" });
    expect((await ask(editor, { action: 'read', path })).text).toBe("one\nit's $two\none\n");
    expect((await ask(shell, { command: 'cat src/a.txt' })).text).toBe("one\nit's $two\none");
    expect((await ask(editor, { action: 'search', path: '.', pattern: "'s $two" })).text).toMatch(
      /^(\.\/)?src\/a\.txt:2:it's \$two$/,
    );
    expect((await ask(editor, { action: 'search', path: '.', pattern: 'none' })).text).toBe(
      'No line has it.',
    );
    await ask(shell, { command: 'cd src' });
    await ask(editor, { action: 'search', path: '.', pattern: 'one' });
    expect((await ask(shell, { command: 'pwd; env | grep -c SEARCHED' })).text).toBe(
      '/work/src\n0\n[exit code 1]',
    );
  });

  test('mistakes of the model are answered', async () => {
    expect(await ask(editor, { action: 'read', path: 'none' })).toMatchObject({ isError: true });
    expect((await ask(editor, { action: 'write', path: 'a' })).mistake).toMatchObject({ path: '/content' });
    await (await sandboxes.of('one')).write('binary', Uint8Array.of(255, 254));
    expect((await ask(editor, { action: 'read', path: 'binary' })).text).toContain('not text');
  });
});

test('the plugins conform', async () => {
  await assertConforms(checkTool(bash, { calls: 5 }));
  await assertConforms(checkTool(files, { calls: 5 }));
}, 60_000);

test('an episode that is over gives its sandbox back', async () => {
  const shell = await createBash({});
  await ask(shell, { command: 'echo 1 > kept' });
  await shell.release?.('one');
  expect((await ask(shell, { command: 'cat kept' })).text).toContain('No such file');
  await shell.close?.();
});

test('two episodes with one id that run at once have files of their own', async () => {
  const shell = (await createBash({})) as Tool;
  const { twins, call, close } = await openTwins(shell);
  await call(0, { command: 'echo first > kept' });
  expect(await call(1, { command: 'ls' })).toBe('[no output]');
  await call(1, { command: 'echo second > kept' });
  await twins[1].close();
  expect(await call(0, { command: 'cat kept' })).toBe('first');
  await twins[0].close();
  await twins[1].reset({ task: {}, seed: 1, episodeId: 'one' });
  expect(await call(1, { command: 'ls' })).toBe('[no output]');
  await close();
  await shell.close?.();
});

test.skipIf(!existsSync('/usr/bin/bwrap'))('Python of the machine runs in bubblewrap', async () => {
  const python = await createPython({}, { sandbox: '@toolenv/sandbox/bubblewrap-v1' });
  const program = 'import random, os\nprint(random.random())\nopen("kept", "w").write("x")';
  const { text } = await ask(python, { code: program });
  await python.release?.('one');
  expect((await ask(python, { code: program })).text).toBe(text);
  expect((await ask(python, { code: 'print(open("kept").read()); 1 / 0' })).text).toContain(
    'ZeroDivisionError',
  );
  const failing = await ask(python, { code: 'x = 1\nraise ValueError(x)' });
  expect(failing.text).toContain('File "call.py", line 2, in <module>\nValueError: 1');
  // A program may do what it likes to the files of its sandbox.
  await ask(python, { code: 'import os\nos.chmod("/tmp", 0)\nprint(input())' });
  expect((await ask(python, { code: 'print(__name__, 6 * 7)' })).text).toMatch(/^__main__ 42\n/);
  await python.close?.();
});
