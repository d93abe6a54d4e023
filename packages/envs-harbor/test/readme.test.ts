/** The README names the rewards of the environment. The site shows the options: `site/test/reference.test.ts`. */
import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import harbor from '../src/harbor-v1.ts';

test('names the rewards', async () => {
  const readme = await readFile(new URL('../README.md', import.meta.url), 'utf8');
  for (const name of Object.keys(harbor.rewards)) expect(readme).toContain(`reward** \`${name}\``);
});
