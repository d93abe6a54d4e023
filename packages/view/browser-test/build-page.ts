/** Builds the page, and that of reports, before its tests. */
import { join } from 'node:path';
import { build } from 'vite';

const page = join(import.meta.dirname, '../page');

export default async function buildPage(): Promise<void> {
  await build({ root: page, logLevel: 'warn' });
  await build({ root: page, logLevel: 'warn', configFile: join(page, 'report.vite.config.ts') });
}
