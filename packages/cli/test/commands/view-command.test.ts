/** `toolenv view`: what it refuses before it serves or writes anything. The pages are tested in packages/view. */
import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runCli } from '../run-cli.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'toolenv-view-command-'));
  await mkdir(join(folder, 'run'));
  await writeFile(join(folder, 'run/metrics.jsonl'), '');
});
afterAll(() => rm(folder, { recursive: true }));

test('a report replaces no other file', async () => {
  const file = join(folder, 'thesis.html');
  await writeFile(file, '<html>mine</html>');
  const { code, stdout, stderr } = await runCli('view', join(folder, 'run'), '--export', file);
  expect([code, stdout]).toEqual([2, '']);
  expect(stderr).toContain(`${file} exists, and is no report: name another file.`);
  expect(await readFile(file, 'utf8')).toBe('<html>mine</html>');
  const [pipe, link] = [join(folder, 'pipe.html'), join(folder, 'link.html')];
  execFileSync('mkfifo', [pipe]);
  await symlink(file, link);
  for (const other of [folder, pipe, link]) {
    const refused = await runCli('view', join(folder, 'run'), '--export', other);
    expect([refused.code, refused.stderr]).toEqual([
      2,
      expect.stringMatching(/^toolenv: [^\n]+ another file\.\n$/),
    ]);
  }
  expect(await readFile(file, 'utf8')).toBe('<html>mine</html>');
  expect((await readdir(folder)).sort()).toEqual(['link.html', 'pipe.html', 'run', 'thesis.html']);
  const nowhere = await runCli('view', join(folder, 'run'), '--export', '/proc/toolenv/report.html');
  expect(nowhere.code).not.toBe(0);
  expect(nowhere.stderr).toMatch(/^toolenv: [^\n]+\n$/);
});

test('a folder without runs is refused, with what a run is', async () => {
  await mkdir(join(folder, 'empty/inner'), { recursive: true });
  const { code, stderr } = await runCli('view', join(folder, 'empty'));
  expect(code).toBe(2);
  expect(stderr).toContain('is not a run folder: it has no trajectories.jsonl and no metrics.jsonl.');
});
