/** `toolenv skill add`: the files that coding agents find, and what stands there already. */
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { runCliIn } from '../run-cli.ts';

const source = join(import.meta.dirname, '../../skill/toolenv/SKILL.md');
let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'toolenv-skill-'));
});
afterEach(() => rm(folder, { recursive: true }));

test('the skill keeps the limits of the format', async () => {
  const text = await readFile(source, 'utf8');
  const [, front] = /^---\n([\s\S]*?)\n---\n/.exec(text)!;
  const fields = Object.fromEntries(
    front!.split('\n').map((line) => line.split(/: (.*)/s, 2) as [string, string]),
  );
  expect(Object.keys(fields)).toEqual(['name', 'description', 'license', 'compatibility']);
  expect(fields.name).toBe('toolenv');
  expect(fields.description!.length).toBeLessThanOrEqual(1024);
  expect(fields.description).toContain('Use when');
  expect(fields.compatibility!.length).toBeLessThanOrEqual(500);
  expect(text.split('\n').length).toBeLessThan(500);
});

test('is added where agents look, and again without harm', async () => {
  const at = join(folder, '.agents/skills/toolenv/SKILL.md');
  const { code, stdout } = await runCliIn(folder, 'skill', 'add');
  expect(code).toBe(0);
  expect(stdout).toContain('.agents/skills/toolenv has the skill.');
  expect(await readFile(at, 'utf8')).toBe(await readFile(source, 'utf8'));
  expect(await runCliIn(folder, 'skill', 'add', '--json')).toMatchObject({
    code: 0,
    stdout: `${JSON.stringify({ folder: '.agents/skills/toolenv', files: ['SKILL.md'] })}\n`,
  });
  await mkdir(join(folder, '.claude'));
  await runCliIn(folder, 'skill', 'add');
  expect(await readFile(join(folder, '.claude/skills/toolenv/SKILL.md'), 'utf8')).toContain('# toolenv');
  await runCliIn(folder, 'skill', 'add', '--to', 'mine');
  expect(await readFile(join(folder, 'mine/toolenv/SKILL.md'), 'utf8')).toContain('# toolenv');
});

test('what a person has written there is replaced only with --force', async () => {
  const at = join(folder, 'mine/toolenv');
  await mkdir(at, { recursive: true });
  await writeFile(join(at, 'SKILL.md'), 'my own');
  await writeFile(join(at, 'notes.md'), 'notes');
  const { code, stderr } = await runCliIn(folder, 'skill', 'add', '--to', 'mine');
  expect(code).toBe(2);
  expect(stderr).toContain("mine/toolenv/SKILL.md is another than this version's");
  expect(await readFile(join(at, 'SKILL.md'), 'utf8')).toBe('my own');
  expect(await runCliIn(folder, 'skill', 'add', '--to', 'mine', '--force')).toMatchObject({ code: 0 });
  expect(await readFile(join(at, 'SKILL.md'), 'utf8')).toContain('# toolenv');
  expect(await readFile(join(at, 'notes.md'), 'utf8')).toBe('notes');
});

test('a folder that is a file, and another action, are refused', async () => {
  await writeFile(join(folder, 'file'), '');
  expect((await runCliIn(folder, 'skill', 'add', '--to', 'file')).stderr).toMatch(/^toolenv: .*file.*\n$/);
  expect((await runCliIn(folder, 'skill', 'remove')).code).toBe(2);
});
