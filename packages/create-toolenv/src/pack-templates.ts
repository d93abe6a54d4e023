/**
 * Copies the repository's templates into `dist`, from where they are published. `npm run build` runs it. A `prepack` hook would
 * not run, because the repository's `.npmrc` ignores scripts.
 */
import { cpSync, renameSync, rmSync } from 'node:fs';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isTemplateFile, templates } from './templates.ts';

const from = fileURLToPath(new URL('../../../templates/', import.meta.url));
const to = fileURLToPath(new URL('templates/', import.meta.url));
rmSync(to, { recursive: true, force: true });
for (const template of Object.keys(templates)) {
  cpSync(`${from}${template}`, `${to}${template}`, {
    recursive: true,
    filter: (source) => isTemplateFile(relative(from, source)),
  });
  // Node and bundlers read a package.json with exports in any folder.
  renameSync(`${to}${template}/package.json`, `${to}${template}/_package.json`);
}
