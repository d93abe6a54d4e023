/** The README's table of metrics is the one in the code. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { metricNames } from '../src/index.ts';

test('the README lists every metric, with the same words', async () => {
  const readme = await readFile(join(import.meta.dirname, '..', 'README.md'), 'utf8');
  const rows = [...readme.matchAll(/^\| `([^`]+)` \| (.*) \|$/gm)].map(([, name, meaning]) => [
    name,
    meaning,
  ]);
  expect(Object.fromEntries(rows)).toEqual(metricNames);
});
