/** Writes the generated pages: the API reference, the reference of commands and plugins, and the files that pages link to. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { writeApi } from './api.ts';
import { writeFilePages } from './files.ts';
import { writeReference } from './reference.ts';

const generated = join(import.meta.dirname, '../generated');

export async function generate(): Promise<void> {
  rmSync(generated, { recursive: true, force: true });
  writeFilePages(generated);
  await writeReference(generated);
  await writeApi(join(generated, 'api'));
}
