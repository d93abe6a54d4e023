/** The README names the rewards. */
import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import files from '../src/files-v1.ts';

const readme = readFile(new URL('../README.md', import.meta.url), 'utf8');

// The site shows the options: `site/test/reference.test.ts`.
test('the rewards', async () => {
  for (const name of Object.keys(files.rewards))
    expect(await readme).toContain(`The reward \`${name}\` is 1 if`);
});
