/** Python in WebAssembly: programs that break their interpreter, or must be stopped; and a damaged file of its snapshot. */
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Tool, ToolContext } from '@toolenv/core';
import { createRng } from '@toolenv/core';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { createPython } from '../src/index.ts';
import { openSnapshot, PythonProcess } from '../src/python/python-process.ts';
import { snapshotFile } from '../src/python/saved-snapshot.ts';

let tool: Tool<{ code: string }>;
beforeAll(async () => {
  tool = await createPython({}, { timeout: 20_000 });
});
afterAll(() => tool.close?.());

let calls = 0;
function context(episodeId: string, signal = new AbortController().signal): ToolContext {
  return { episodeId, signal, rng: createRng(1, 'tool', 0), callIndex: calls++ };
}

async function run(code: string, episodeId: string): Promise<string> {
  const { content } = await tool.execute({ code }, context(episodeId));
  return content.map((block) => ('text' in block ? String(block.text) : '')).join('\n');
}

const crashes = [
  'import os; os._exit(1)',
  'import os; os.abort()',
  'import ctypes; ctypes.memset(0, 255, 10**7)',
];

test.each(crashes)('a program that breaks its interpreter is told: %s', async (code) => {
  expect(await run(code, 'crash')).toBe('[Python crashed. Python began anew: variables and files are lost]');
  expect(await run('1 + 1', 'crash')).toBe('2');
});

test('a program that catches everything is stopped, and the next call begins anew', async () => {
  const quick = await createPython({}, { timeout: 1000, spare: 0 });
  try {
    const ask = async (code: string) =>
      ((await quick.execute({ code }, context('e'))).content[0] as { text: string }).text;
    await ask('x = 1');
    const endless = await ask(
      'while True:\n    try:\n        while True: pass\n    except BaseException: pass',
    );
    expect(endless).toBe('[stopped after 1 s. Python began anew: variables and files are lost]');
    expect(await ask('x')).toContain('NameError');
    const bomb = 'import js\nkept = js.Array.new()\nwhile True: kept.push("x".join(map(str, range(1000))))';
    expect(await ask(bomb)).toMatch(/^\[stopped/);
    const controller = new AbortController();
    const call = quick.execute({ code: 'while True: pass' }, context('e', controller.signal));
    setTimeout(() => controller.abort(new Error('given up')), 100);
    await expect(call).rejects.toThrow('given up');
    expect(await ask('1 + 1')).toBe('2');
  } finally {
    await quick.close?.();
  }
});

test('a damaged snapshot is made again, and interpreters compute the same from what is made and from what is read', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'snapshot-'));
  vi.stubEnv('XDG_CACHE_HOME', folder);
  const { path } = await snapshotFile();
  const answer = async () => {
    const interpreter = new PythonProcess(
      { memory: 128, timeout: 20_000, output: 1000 },
      await openSnapshot(128),
    );
    try {
      await interpreter.begin(7);
      return await interpreter.run(
        'import random, json; json.dumps([random.random(), hash("a"), list({"b", "c"})])',
      );
    } finally {
      await interpreter.end();
    }
  };
  try {
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, 'damaged');
    const made = await answer();
    expect(made).toMatchObject({ ok: true, text: expect.stringContaining('0.') });
    expect((await readFile(path)).length).toBeGreaterThan(10 ** 7);
    expect(await answer()).toEqual(made);
  } finally {
    await rm(folder, { recursive: true });
  }
});

test('a snapshot that is removed while interpreters run is made again', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'snapshot-'));
  vi.stubEnv('XDG_CACHE_HOME', folder);
  // A module that has opened no snapshot yet.
  vi.resetModules();
  const { createPython } = await import('../src/index.ts');
  const python = await createPython({}, { spare: 0 });
  const ask = async (episodeId: string) =>
    (await python.execute({ code: '1 + 1' }, context(episodeId))).content;
  try {
    expect(await ask('before')).toEqual([{ type: 'text', text: '2' }]);
    await rm(join(folder, 'toolenv'), { recursive: true });
    expect(await ask('after')).toEqual([{ type: 'text', text: '2' }]);
    expect((await readFile((await snapshotFile()).path)).length).toBeGreaterThan(10 ** 7);
  } finally {
    await python.close?.();
    await rm(folder, { recursive: true });
  }
});
