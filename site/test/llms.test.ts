/** llms.txt lists the pages of the site, llms-full.txt has their text, and every link in both leads to a page. */
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { fullText, indexText, sectionsOfSite, writeLlmsFiles } from '../llms.ts';
import { pageOf, writtenPages } from '../pages.ts';

test('llms.txt has a title, a summary, and a line with a description for each page', () => {
  const [title, , summary, ...rest] = indexText('/').split('\n');
  expect(title).toBe('# toolenv');
  expect(summary).toMatch(/^> toolenv /);
  const lines = rest.filter((line) => line.startsWith('- '));
  for (const line of lines) expect(line).toMatch(/^- \[[^\]]+\]\(\/[\w/.-]+\.md\): \S.{10,400}[.?!]$/);
  expect(rest.filter((line) => line.startsWith('## ')).at(-1)).toBe('## Optional');
  expect(lines).toContain('- [Write a tool](/guides/tool.md): A tool is a function that the model may call.');
  const listed = new Set(lines.map((line) => /\]\(\/([^)]+)\)/.exec(line)![1]));
  const missing = writtenPages().filter((file) => !listed.has(pageOf(file)!));
  expect(missing.filter((file) => file !== 'site/index.md' && !file.startsWith('docs/decisions/'))).toEqual(
    [],
  );
});

test('llms-full.txt has the guides, the recipes, the spec and the packages, and no benchmarks', () => {
  const text = fullText('/');
  const sections = sectionsOfSite().map(({ title }) => title);
  expect(sections).toEqual(expect.arrayContaining(['Guides', 'Recipes', 'The standard', 'Packages']));
  for (const heading of [
    '# Write a tool',
    '# When rewards are flat',
    '# toolenv spec, version 1',
    '# @toolenv/core',
  ])
    expect(text).toContain(`\n${heading}\n`);
  expect(text).not.toContain('\n# Chaos\n');
  expect(text.replaceAll(/^<!-- \/[\w/.-]+\.md -->$/gm, '')).not.toMatch(/<!-- (number|given|not run)/);
});

test('every link to a page leads to its Markdown on the site', async () => {
  const dist = await mkdtemp(join(tmpdir(), 'toolenv-llms-'));
  onTestFinished(() => rm(dist, { recursive: true }));
  writeLlmsFiles(dist, '/base/');
  const files = [
    'llms.txt',
    'llms-full.txt',
    'guides/train.md',
    'packages/mcp.md',
    'project/contributing.md',
  ];
  const broken = files.flatMap((file) =>
    [...readFileSync(join(dist, file), 'utf8').matchAll(/\]\(\/base\/([^)#]+\.md)(#[^)]*)?\)/g)]
      .map(([, page]) => page!)
      .filter((page) => !existsSync(join(dist, page))),
  );
  expect(broken).toEqual([]);
  expect(readFileSync(join(dist, 'guides/train.md'), 'utf8')).toContain('](/base/recipes/index.md)');
  expect(readFileSync(join(dist, 'start.md'), 'utf8')).not.toMatch(/\]\(\.\.?\//);
});
