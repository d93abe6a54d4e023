/** What npm shows of a package: links to the repository and the site, a licence and a changelog. */
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { publicFields, repositoryAddress } from '../../site/addresses.ts';
import { repository } from '../../site/pages.ts';

const read = (path: string) => readFileSync(join(repository, path), 'utf8');
const root = JSON.parse(read('package.json'));

test('the root names one repository, its issues and its pages', () => {
  const [, owner, name] = /^https:\/\/github\.com\/([\w-]+)\/([\w-]+)$/.exec(repositoryAddress)!;
  expect(root.repository).toEqual({ type: 'git', url: `git+${repositoryAddress}.git` });
  expect(root.bugs).toEqual({ url: `${repositoryAddress}/issues` });
  expect(root.homepage).toBe(`https://${owner}.github.io/${name}/`);
});

test('no other file names another repository or site', () => {
  const [file, ...others] = [repositoryAddress, root.homepage.replace(/\/$/, '')];
  const pattern = `https?://(github\\.com/[A-Za-z0-9-]+/toolenv|[a-z0-9.-]+\\.github\\.io/toolenv)`;
  const found = execFileSync('git', ['grep', '-hoE', '--untracked', pattern], {
    cwd: repository,
    encoding: 'utf8',
  });
  expect([...new Set(found.trim().split('\n'))].sort()).toEqual([file, ...others].sort());
});

describe.each(readdirSync(join(repository, 'packages')))('packages/%s', (folder) => {
  const manifest = JSON.parse(read(`packages/${folder}/package.json`));

  test('names its folder of the repository, its page and the issues', () => {
    expect(manifest).toMatchObject(publicFields(folder));
    expect(read(`packages/${folder}/README.md`)).not.toBe('');
  });

  test('ships the licence of the repository and its changelog', () => {
    expect(manifest.license).toBe(root.license);
    // npm packs LICENSE without being told, and CHANGELOG.md only if "files" names it.
    expect(read(`packages/${folder}/LICENSE`)).toBe(read('LICENSE'));
    expect(manifest.files).toContain('CHANGELOG.md');
  });
});
