/** checkPlugin finds what is broken under the right rule, and nothing in what is good. */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { findPlugin } from '@toolenv/core/plugins';
import { afterEach, expect, test } from 'vitest';
import { checkPlugin, reportText } from '../src/index.ts';
import { brokenPlugins, type Files, goodPlugin } from './broken-plugins.ts';

const made: string[] = [];

afterEach(async () => {
  clearInterval((globalThis as { lampTimer?: NodeJS.Timeout }).lampTimer);
  for (const folder of made.splice(0)) await rm(folder, { recursive: true });
});

async function write(files: Files): Promise<string> {
  const root = await mkdtemp(join(tmpdir(), 'toolenv-plugin-'));
  made.push(root);
  const folder = join(root, 'node_modules', 'lamp');
  await mkdir(folder, { recursive: true });
  for (const [name, content] of Object.entries(files)) {
    const path = join(folder, name);
    if (typeof content === 'object' && 'link' in content) await symlink(content.link, path);
    else await writeFile(path, typeof content === 'string' ? content : JSON.stringify(content));
  }
  return folder;
}

test('a good package keeps every rule', async () => {
  const report = await checkPlugin(await write(goodPlugin));
  expect(reportText(report)).toBe('lamp@1.0.0: 6 rules hold, 0 are broken, 0 were not checked.');
});

test('looking at the streams of a process whose input is a pipe is no leak', async () => {
  const lamp = `import process from 'node:process';\nvoid process.pid;\n${goodPlugin['lamp.js']}`;
  const folder = await write({ ...goodPlugin, 'lamp.js': lamp });
  const kit = JSON.stringify(join(import.meta.dirname, '../src/index.ts'));
  const script = `import { checkPlugin, reportText } from ${kit};
    console.log(reportText(await checkPlugin(${JSON.stringify(folder)})));`;
  const args = ['--import', import.meta.resolve('tsx'), '--input-type=module', '--eval', script];
  // Its input is a pipe, which nobody has looked at.
  const { stdout } = await promisify(execFile)(process.execPath, args);
  expect(stdout).toBe('lamp@1.0.0: 6 rules hold, 0 are broken, 0 were not checked.\n');
});

test.each(brokenPlugins)('%s: %s', async (_, rule, files) => {
  const report = await checkPlugin(await write(files));
  expect(
    report.findings.map((finding) => finding.rule),
    reportText(report),
  ).toEqual([rule]);
});

test('a folder that is no package is the mistake of who named it', async () => {
  await expect(checkPlugin(tmpdir())).rejects.toMatchObject({ code: 'usage.not_a_package' });
});

test('a plugin is not loaded through a link out of its package', async () => {
  const folder = await write({ ...goodPlugin, 'lamp.js': { link: '/etc/hostname' } });
  const found = findPlugin('envs', 'lamp/lamp-v1', { from: join(folder, '..', '..') });
  await expect(found).rejects.toMatchObject({ code: 'usage.bad_manifest' });
});
