/** checkPlugin reports each defect under its rule, and reports nothing for a valid package. */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { findPlugin } from '@toolenv/core/plugins';
import { afterEach, expect, test } from 'vitest';
import { checkPlugin, reportText } from '../src/index.ts';
import { brokenPlugins, type Files, goodPlugin } from './broken-plugins.ts';
import { expectFinding } from './expect-finding.ts';

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
    await mkdir(dirname(path), { recursive: true });
    if (typeof content === 'object' && 'link' in content) await symlink(content.link, path);
    else await writeFile(path, typeof content === 'string' ? content : JSON.stringify(content));
  }
  return folder;
}

test('a valid package passes every rule', async () => {
  const report = await checkPlugin(await write(goodPlugin));
  expect(reportText(report)).toBe('lamp@1.0.0: 7 rules hold, 0 broken, 0 not checked.');
});

test('does not report the standard streams of a process whose input is a pipe', async () => {
  const lamp = `import process from 'node:process';\nvoid process.pid;\n${goodPlugin['lamp.js']}`;
  const folder = await write({ ...goodPlugin, 'lamp.js': lamp });
  const kit = JSON.stringify(join(import.meta.dirname, '../src/index.ts'));
  const script = `import { checkPlugin, reportText } from ${kit};
    console.log(reportText(await checkPlugin(${JSON.stringify(folder)})));`;
  const source = ['--import', import.meta.resolve('tsx'), '--conditions=@toolenv/source'];
  const args = [...source, '--input-type=module', '--eval', script];
  // The child's standard input is a pipe that nothing has accessed yet.
  const { stdout } = await promisify(execFile)(process.execPath, args);
  expect(stdout).toBe('lamp@1.0.0: 7 rules hold, 0 broken, 0 not checked.\n');
});

test.each(brokenPlugins)('%s: %s', async (_, rule, files) => {
  expectFinding(await checkPlugin(await write(files)), rule);
});

test('a folder that is not a package is a usage error', async () => {
  await expect(checkPlugin(tmpdir())).rejects.toMatchObject({ code: 'usage.not_a_package' });
});

test('does not load a plugin through a link out of its package', async () => {
  const folder = await write({ ...goodPlugin, 'lamp.js': { link: '/etc/hostname' } });
  const found = findPlugin('envs', 'lamp/lamp-v1', { from: join(folder, '..', '..') });
  await expect(found).rejects.toMatchObject({ code: 'usage.bad_manifest' });
});
