/** The pages that may show numbers. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

export const root: string = join(import.meta.dirname, '../..');

/** Paths from the root: the README, all of docs and site, and the READMEs of packages. */
export function pages(): string[] {
  const folders = ['docs', 'site']
    .filter((folder) => existsSync(join(root, folder)))
    .flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((path) =>
        join(folder, path),
      ),
    );
  const packages = readdirSync(join(root, 'packages')).map((name) => join('packages', name, 'README.md'));
  return ['README.md', ...folders, ...packages].filter(
    (path) => path.endsWith('.md') && !path.includes('node_modules') && existsSync(join(root, path)),
  );
}
