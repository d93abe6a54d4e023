/** Links to files of the repository and paths in the documents lead to files that exist. */
import { type Dirent, existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { expect, test } from 'vitest';
import { pathInRepository } from '../../site/addresses.ts';

const root = join(import.meta.dirname, '../..');
const skipped = new Set(['node_modules', 'dist', 'generated', '.git', '.venv', 'runs', 'coverage']);

/** Every file of the repository and every folder that has files, relative to its root. */
const entries = walk('');
const topLevel = new Set(entries.map((path) => path.split('/')[0]!));
/** Folders that were at the top until version 0.1.0. A document that names a path in them is out of date. */
const formerTopLevel = ['bench', 'demo', 'interop', 'table', 'test', 'tiny-policy'];

const documents = [
  ...[
    'README.md',
    'CONTRIBUTING.md',
    'ARCHITECTURE.md',
    'AGENTS.md',
    'SECURITY.md',
    'VERSIONING.md',
    'workshop/README.md',
  ],
  ...entries.filter((path) => /^(docs|examples|studies)\/.*\.md$/.test(path)),
  ...entries.filter((path) =>
    /^packages\/[^/]+\/(spec\/)?[^/]+\.md$|^templates\/[^/]+\/[^/]+\.md$/.test(path),
  ),
].filter((path) => existsSync(join(root, path)));

function walk(folder: string): string[] {
  return list(folder).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (!entry.isDirectory()) return [path];
    const inside = walk(path);
    return inside.length > 0 ? [path, ...inside] : [];
  });
}

function list(folder: string): Dirent[] {
  try {
    return readdirSync(join(root, folder), { withFileTypes: true }).filter(({ name }) => !skipped.has(name));
  } catch (error) {
    // Other tests make temporary folders and remove them.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

/** A Markdown document without its fenced code, and that code. */
function split(text: string): { prose: string; code: string } {
  const fence = /^(```|~~~).*\n([\s\S]*?)^\1$/gm;
  const code = [...text.matchAll(fence)].map((match) => match[2]!).join('\n');
  return { prose: text.replaceAll(fence, ''), code };
}

/** The anchors that GitHub gives to the headings of a document. */
function anchorsOf(file: string): Set<string> {
  const { prose } = split(readFileSync(file, 'utf8'));
  const headings = [...prose.matchAll(/^#+ +(.*)$/gm)].map((match) => match[1]!);
  return new Set(
    headings.map((heading) =>
      heading
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
        .replaceAll(' ', '-'),
    ),
  );
}

/** Why a relative link of a document, or one to a file of the repository, is broken, if it is. */
function brokenLink(document: string, link: string): string | undefined {
  const fromRoot = pathInRepository(link);
  const [path, anchor] = (fromRoot ?? link).split('#') as [string, string?];
  // npm shows the README of a package without its files.
  if (fromRoot === undefined && path !== '' && /^packages\/[^/]+\/README\.md$/.test(document))
    return `${link} is relative: npm's page of the package cannot follow it. Write the address of the repository`;
  const folder = fromRoot === undefined ? dirname(document) : '.';
  const target = path === '' ? join(root, document) : join(root, folder, decodeURI(path));
  if (relative(root, target).startsWith('..')) return `${link} leads out of the repository`;
  if (!existsSync(target)) return `${link} does not exist`;
  if (anchor !== undefined && statSync(target).isFile() && !anchorsOf(target).has(anchor))
    return `${link} names no heading`;
  return undefined;
}

/** Whether a text is meant as a path of the repository: `packages/core`, `rollout.ts`, `runtime/ops.ts`. */
function isPath(text: string): boolean {
  if (!/^\.?[\w<>*-][\w.<>*-]*(\/[\w.<>*-]+)*\/?$/.test(text)) return false;
  return /\.(ts|py)$/.test(text) || isTopLevel(text);
}

/**
 * A path from the root, or the end of one: `ops.ts` is `packages/policy/src/runtime/ops.ts`. `<name>` and `*` stand for any
 * part of a name.
 */
function exists(path: string): boolean {
  const pattern = path
    .replace(/\/$/, '')
    .replaceAll('.', '\\.')
    .replaceAll(/<[^>]*>|\*/g, '[^/]*');
  const isFromRoot = isTopLevel(path);
  const known = new RegExp(`${isFromRoot ? '^' : '(^|/)'}${pattern}$`);
  return entries.some((entry) => known.test(entry));
}

function isTopLevel(path: string): boolean {
  const first = path.split('/')[0]!;
  return path.includes('/') && (topLevel.has(first) || formerTopLevel.includes(first));
}

test.each(documents)('%s', (document) => {
  const { prose, code } = split(readFileSync(join(root, document), 'utf8'));
  const links = [...prose.matchAll(/\]\(([^)\s]+)\)/g)]
    .map((match) => match[1]!)
    .filter((link) => !/^[a-z]+:/.test(link) || pathInRepository(link) !== undefined);
  expect(links.flatMap((link) => brokenLink(document, link) ?? [])).toEqual([]);

  const quoted = [...prose.matchAll(/`([^`\n]+)`/g)].map((match) => match[1]!);
  const words = code.split(/[\s'"`,;()]+/).filter(isTopLevel);
  const paths = [...quoted, ...words].filter(isPath);
  // A template's page names files of its own package.
  const isNear = (path: string) => existsSync(join(root, dirname(document), path));
  expect(paths.filter((path) => !exists(path) && !isNear(path))).toEqual([]);
});

test('the README has at most 900 words', () => {
  expect(readFileSync(join(root, 'README.md'), 'utf8').trim().split(/\s+/).length).toBeLessThanOrEqual(900);
});
