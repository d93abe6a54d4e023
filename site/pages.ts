/** The pages of the site: which Markdown of the repository is a page, and at which address. The Markdown stays where it is. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

export const repository: string = join(import.meta.dirname, '..');

/** A folder or a file of the repository, and its place on the site. `$1` is the part in parentheses. */
const places: readonly (readonly [file: RegExp, page: string])[] = [
  [/^site\/index\.md$/, 'index.md'],
  [/^site\/generated\/(.+\.md)$/, '$1'],
  [/^docs\/(.+\/)?README\.md$/, '$1index.md'],
  [/^docs\/(.+\.md)$/, '$1'],
  [/^examples\/(.+\/)?README\.md$/, 'examples/$1index.md'],
  [/^packages\/([^/]+)\/README\.md$/, 'packages/$1.md'],
  [/^packages\/core\/(spec\/.+\.md)$/, '$1'],
  [/^studies\/README\.md$/, 'project/studies.md'],
  [/^workshop\/README\.md$/, 'project/workshop.md'],
  [/^README\.md$/, 'project/readme.md'],
  [/^ARCHITECTURE\.md$/, 'project/architecture.md'],
  [/^CONTRIBUTING\.md$/, 'project/contributing.md'],
  [/^SECURITY\.md$/, 'project/security.md'],
  [/^VERSIONING\.md$/, 'project/versioning.md'],
];

const topFolders = ['docs', 'examples', 'packages', 'site', 'studies', 'workshop'];

/** Patterns of folders and files that VitePress must not take for pages. */
export function foldersWithoutPages(): string[] {
  const others = readdirSync(repository, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && !topFolders.includes(entry.name))
    .map(({ name }) => `${name}/**`);
  return [
    ...others,
    'packages/*/!(spec)/**/*',
    'studies/*/**/*',
    'workshop/*/**/*',
    'site/!(generated)/**/*',
    '**/node_modules/**',
    '**/CHANGELOG.md',
    'AGENTS.md',
  ];
}

/** `guides/train.md` for `docs/guides/train.md`, both with `/`; nothing for a file that is not a page. */
export function pageOf(file: string): string | undefined {
  const place = places.find(([pattern]) => pattern.test(file));
  return place && file.replace(place[0], place[1]);
}

/** Every Markdown file of the repository that is a page, without the generated pages. */
export function writtenPages(): string[] {
  const folders = ['docs', 'examples', 'site', 'studies', 'workshop', ''];
  const files = folders.flatMap((folder) => markdownIn(folder, folder === 'docs' || folder === 'examples'));
  for (const name of readdirSync(join(repository, 'packages')))
    files.push(...markdownIn(`packages/${name}`, false), ...markdownIn(`packages/${name}/spec`, false));
  return files.filter((file) => pageOf(file) !== undefined).sort();
}

function markdownIn(folder: string, deep: boolean): string[] {
  if (!existsSync(join(repository, folder))) return [];
  return readdirSync(join(repository, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
    if (entry.isDirectory()) return deep && entry.name !== 'node_modules' ? markdownIn(path, true) : [];
    return entry.name.endsWith('.md') ? [path] : [];
  });
}
