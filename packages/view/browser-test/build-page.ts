/** Builds the page before its tests. */
import { join } from 'node:path';
import { build } from 'vite';

export default async function buildPage(): Promise<void> {
  await build({ root: join(import.meta.dirname, '../page'), logLevel: 'warn' });
}
