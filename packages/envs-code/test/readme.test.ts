/** The README has the rewards of each environment. The site shows the options: `site/test/reference.test.ts`. */
import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import code from '../src/code/code-v1.ts';
import math from '../src/math/math-v1.ts';
import terminal from '../src/terminal/terminal-v1.ts';

test.each([code, math, terminal])('lists the rewards of $name', async ({ name, rewards }) => {
  const readme = await readFile(new URL('../README.md', import.meta.url), 'utf8');
  const section = readme.split(`\n## ${name}\n`)[1]!.split('\n## ')[0]!;
  for (const [reward, { weight }] of Object.entries(rewards))
    expect(section).toContain(`| \`${reward}\` | ${weight} |`);
});
