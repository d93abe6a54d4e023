/** Copies the repository's templates into this package; runs before it is packed. */
import { cpSync, renameSync, rmSync } from 'node:fs';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isTemplateFile, templates } from './templates.ts';

const [from, to] = ['../../../templates/', '../templates/'].map((path) =>
  fileURLToPath(new URL(path, import.meta.url)),
) as [string, string];
rmSync(to, { recursive: true, force: true });
for (const template of Object.keys(templates)) {
  cpSync(`${from}${template}`, `${to}${template}`, {
    recursive: true,
    filter: (source) => isTemplateFile(relative(from, source)),
  });
  // A package.json with exports means something to Node and bundlers wherever it stands.
  renameSync(`${to}${template}/package.json`, `${to}${template}/_package.json`);
}
