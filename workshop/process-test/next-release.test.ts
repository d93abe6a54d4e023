/** The next release, in a copy of the repository: `npm run version` gives all packages one version and a changelog, which is packed. */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { repository } from '../../site/pages.ts';

interface Manifest {
  name: string;
  version: string;
  dependencies?: Record<string, string>;
}

const copy = mkdtempSync(join(tmpdir(), 'toolenv-release-'));
const run = (command: string, ...args: string[]) =>
  execFileSync(command, args, { cwd: copy, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
const read = (path: string) => readFileSync(join(copy, path), 'utf8');
const json = (path: string) => JSON.parse(read(path));
const folders = readdirSync(join(repository, 'packages'));
const { version: before }: Manifest = JSON.parse(
  readFileSync(join(repository, 'packages/core/package.json'), 'utf8'),
);

beforeAll(() => {
  const listed = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: repository,
    encoding: 'utf8',
  });
  for (const file of new Set(listed.split('\0').filter(Boolean)))
    cpSync(join(repository, file), join(copy, file), { recursive: true });
  symlinkSync(join(repository, 'node_modules'), join(copy, 'node_modules'));
  writeFileSync(join(copy, '.changeset/one-more.md'), "---\n'toolenv': minor\n---\n\nA change.\n");
  const author = ['-c', 'user.name=test', '-c', 'user.email=test@example.com'];
  run('git', 'init', '--quiet', '--initial-branch=main');
  run('git', 'add', '--all');
  run('git', ...author, 'commit', '--quiet', '--message=All');
  // The last command of the script asks the registry.
  const steps: string[] = json('package.json').scripts.version.split(' && ').slice(0, -1);
  for (const step of steps) run('npm', 'exec', '--offline', '--call', step);
});
afterAll(() => rmSync(copy, { recursive: true }));

test('raises every package and the Python package to the next minor version: 0.1.0 at first', () => {
  const [, minor] = before.split('.').map(Number);
  const next = `0.${minor! + 1}.0`;
  for (const folder of folders) {
    const { name, version, dependencies = {} }: Manifest = json(`packages/${folder}/package.json`);
    expect(version, name).toBe(next);
    for (const [other, range] of Object.entries(dependencies))
      if (other.startsWith('@toolenv/')) expect(range, `${name} → ${other}`).toBe(next);
  }
  expect(read('packages/openenv/python/pyproject.toml')).toContain(`\nversion = "${next}"\n`);
});

test('packs the licence and the changelog of each package', () => {
  const packed: { name: string; version: string; files: { path: string }[] }[] = JSON.parse(
    run('npm', 'pack', '--dry-run', '--json', '--workspace', 'packages'),
  );
  expect(packed).toHaveLength(folders.length);
  for (const { name, version, files } of packed) {
    const paths = files.map(({ path }) => path);
    expect(paths, name).toEqual(expect.arrayContaining(['LICENSE', 'CHANGELOG.md', 'README.md']));
    expect(version, name).not.toBe(before);
  }
  expect(read('packages/cli/CHANGELOG.md')).toContain('A change.');
});
