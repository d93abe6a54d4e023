/** The navigation reaches every page, links become links of the site, and a link that leads nowhere is found. */
import { readFileSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DefaultTheme } from 'vitepress';
import { expect, onTestFinished, test, vi } from 'vitest';
import { repositoryAddress, siteAddress } from '../addresses.ts';
import { brokenLinks } from '../broken-links.ts';
import { entryPoints } from '../entry-points.ts';
import { examplesOn } from '../generate/examples.ts';
import { linkedFiles } from '../generate/files.ts';
import { slugify, targetOf } from '../links.ts';
import { writtenSidebars } from '../navigation.ts';
import { withGroups } from '../package-managers.ts';
import { pageWeights } from '../page-weights.ts';
import { pageOf, repository, writtenPages } from '../pages.ts';

function linksOf(items: readonly DefaultTheme.SidebarItem[]): string[] {
  return items.flatMap(({ link, items: inner = [] }) => [
    ...(link === undefined ? [] : [link]),
    ...linksOf(inner),
  ]);
}

test('the reference says of every entry point what it is', () => {
  const all = entryPoints();
  expect(all.length).toBeGreaterThan(90);
  expect(all.filter(({ summary }) => !/^[\w`].{10,}[.?!]$/.test(summary))).toEqual([]);
  // No two are the same, as they would be if a file said only of which package it is.
  expect(new Set(all.map(({ summary }) => summary)).size).toBe(all.length);
  const summaryOf = (name: string) => all.find((each) => each.name === name)!.summary;
  expect(summaryOf('@toolenv/core')).toBe('The toolenv standard, and the loop that runs it.');
  const ppo = JSON.parse(readFileSync(join(repository, 'packages/trainer-ppo/package.json'), 'utf8'));
  expect(summaryOf('@toolenv/trainer-ppo')).toBe(`${ppo.description}.`);
  expect(summaryOf('@toolenv/envs-classic/bank-v1')).toBe(
    '`bank-v1`: serve a customer of a bank by its rules, like τ-bench (arXiv 2406.12045).',
  );
});

test('a sidebar leads to every page', () => {
  const reached = new Set(Object.values(writtenSidebars()).flatMap((items) => linksOf(items)));
  const addresses = writtenPages().map((file) => `/${pageOf(file)!.replace(/\.md$/, '.html')}`);
  const missing = addresses
    .map((address) => address.replace(/(^|\/)index\.html$/, '$1'))
    .filter((address) => address !== '/' && !reached.has(address));
  expect(missing).toEqual([]);
  expect(addresses.length).toBeGreaterThan(80);
});

test('a link to a page has the name of the page, not of its file', async () => {
  const named: string[] = [];
  for (const file of writtenPages()) {
    const text = await readFile(join(repository, file), 'utf8');
    for (const [link] of text.matchAll(/\[`?[a-z][\w./-]*\.md`?\]\([^)]*\)/g)) named.push(`${file}: ${link}`);
  }
  expect(named).toEqual([]);
});

test('the pages of the repository keep their places', () => {
  expect(pageOf('docs/guides/README.md')).toBe('guides/index.md');
  expect(pageOf('docs/guides/train.md')).toBe('guides/train.md');
  expect(pageOf('packages/core/spec/v1.md')).toBe('spec/v1.md');
  expect(pageOf('packages/core/README.md')).toBe('packages/core.md');
  expect(pageOf('CONTRIBUTING.md')).toBe('project/contributing.md');
  expect(pageOf('templates/env/README.md')).toBeUndefined();
});

test('links lead to pages, to files, or elsewhere', () => {
  const page = { kind: 'page', page: 'spec/v1.md', anchor: '#env' };
  expect(targetOf('docs/guides/train.md', '../../packages/core/spec/v1.md#env')).toEqual(page);
  expect(targetOf('README.md', 'examples/bank.ts')).toEqual({ kind: 'file', file: 'examples/bank.ts' });
  expect(targetOf('README.md', 'examples')).toMatchObject({ kind: 'page', page: 'examples/index.md' });
  expect(targetOf('README.md', 'https://example.com')).toEqual({ kind: 'elsewhere' });
  const ofNpm = `${repositoryAddress}/blob/main/packages/core/spec/v1.md#env`;
  expect(targetOf('packages/core/README.md', ofNpm)).toEqual(page);
  expect(targetOf('packages/core/README.md', `${repositoryAddress}/issues`)).toEqual({ kind: 'elsewhere' });
  expect(() => targetOf('docs/start.md', 'absent.md')).toThrow('docs/start.md: absent.md does not exist');
  expect(slugify('`train`, and *evaluate*: why?')).toBe('train-and-evaluate-why');
});

test('the site is built for the root of any host, or for an address', () => {
  vi.stubEnv('SITE_ADDRESS', '');
  expect(siteAddress()).toEqual({ base: '/' });
  for (const address of ['https://example.com/docs/', 'https://example.com/docs']) {
    vi.stubEnv('SITE_ADDRESS', address);
    expect(siteAddress()).toEqual({ host: 'https://example.com', base: '/docs/' });
  }
});

test('files to which pages link have pages, those of a folder too', () => {
  const files = linkedFiles();
  expect(files).toContain('examples/bank.ts');
  expect(files).toContain('packages/core/spec/action.schema.json');
  expect(files).toEqual(expect.arrayContaining(['examples/scale', 'examples/scale/workers.yaml']));
  expect(files.some((file) => /\.(md|png|svg)$/.test(file))).toBe(false);
});

test('the entry points are those of package.json', async () => {
  const names = entryPoints().map(({ name }) => name);
  const { exports } = JSON.parse(await readFile(join(repository, 'packages/core/package.json'), 'utf8'));
  for (const subpath of Object.keys(exports).filter((each) => each !== './package.json'))
    expect(names).toContain(`@toolenv/core${subpath.slice(1)}`);
  expect(entryPoints().find(({ name }) => name === '@toolenv/core/learner')?.file).toBe(
    'packages/core/src/protocol/learner.ts',
  );
});

test('a link without a page, an anchor without a heading and an absent picture are found', async () => {
  const site = await mkdtemp(join(tmpdir(), 'toolenv-site-'));
  onTestFinished(() => rm(site, { recursive: true }));
  await mkdir(join(site, 'guides'));
  await writeFile(join(site, 'logo.svg'), '<svg/>');
  await writeFile(
    join(site, 'index.html'),
    `<a href="/base/guides/a.html#good">1</a><a class="x" href="/base/guides/">2</a><img alt="" src="/base/logo.svg">
     <a href="https://example.com/absent">3</a><a href="guides/a.html">4</a>`,
  );
  await writeFile(join(site, 'guides/index.html'), '<a href="../index.html">1</a>');
  await writeFile(
    join(site, 'guides/a.html'),
    `<h2 id="good">1</h2><a href="b.html">2</a><a href="#absent">3</a><img src="../absent.png"><a href="/guides/">4</a>`,
  );
  expect(brokenLinks(site, '/base/')).toEqual([
    'guides/a.html: b.html leads nowhere',
    'guides/a.html: #absent leads nowhere',
    'guides/a.html: ../absent.png leads nowhere',
    'guides/a.html: /guides/ leads nowhere',
  ]);
});

test('the example of a name is the shortest block of a page that uses it', () => {
  const page = [
    '# The page',
    "```ts\nimport plugin, { openEnv as open, type Env } from '@toolenv/core';\n\nawait open('a');\nawait open('b');\n```",
    "```ts\nawait open('c');\n```",
    "```ts\nreopen('d');\n```",
  ].join('\n\n');
  const examples = examplesOn('guides/a.md', page);
  expect([...examples.keys()]).toEqual(['@toolenv/core#openEnv']);
  expect(examples.get('@toolenv/core#openEnv')).toEqual({
    title: 'The page',
    page: 'guides/a.md',
    code: "await open('c');",
  });
});

test('commands of npm are shown for pnpm and bun, except those of the repository', () => {
  const groups = withGroups(
    '```sh\nnpm install --save-dev @toolenv/envs-qa\nnpx toolenv view runs/a\n```\n\n```sh\nnpm create toolenv first -- --template env\ncd first\nnpm test\n```\n',
  );
  expect(groups).toContain('```sh [npm]\nnpm install --save-dev @toolenv/envs-qa\n');
  expect(groups).toContain('```sh [pnpm]\npnpm add -D @toolenv/envs-qa\npnpm exec toolenv view runs/a\n```');
  expect(groups).toContain('```sh [bun]\nbun add -d @toolenv/envs-qa\nbunx toolenv view runs/a\n```');
  expect(groups).toContain(
    '```sh [pnpm]\npnpm create toolenv first --template env\ncd first\npnpm test\n```',
  );
  for (const code of ['npm ci\nnpm run demo\n', 'ls\n', 'npm install a\nnpm publish\n'])
    expect(withGroups(`\`\`\`sh\n${code}\`\`\`\n`)).toBe(`\`\`\`sh\n${code}\`\`\`\n`);
});

test('a page weighs what it loads at once', async () => {
  const site = await mkdtemp(join(tmpdir(), 'toolenv-site-'));
  onTestFinished(() => rm(site, { recursive: true }));
  await mkdir(join(site, 'playground'));
  await writeFile(join(site, 'a.png'), new Uint8Array(299_000));
  await writeFile(join(site, 'b.png'), new Uint8Array(2_000));
  await writeFile(join(site, 'light.html'), '<img src="/base/a.png"><img src="/base/b.png" loading="lazy">');
  await writeFile(join(site, 'heavy.html'), '<img src="/base/a.png"><img src="/base/b.png">');
  await writeFile(join(site, 'playground/index.html'), '<img src="/base/a.png"><img src="/base/b.png">');
  expect(pageWeights(site, '/base/')).toEqual({
    tooHeavy: ['heavy.html weighs 302 kB'],
    heaviest: 'heavy.html weighs 302 kB',
  });
});
