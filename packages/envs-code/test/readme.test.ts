/** The README has the options and rewards of each environment. */
import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import code from '../src/code/code-v1.ts';
import math from '../src/math/math-v1.ts';
import terminal from '../src/terminal/terminal-v1.ts';

const limits = ['maxTurns', 'maxCallsPerTurn', 'toolTimeout', 'maxToolCharacters'];

test.each([code, math, terminal])(
  'lists the options and rewards of $name',
  async ({ name, options, rewards }) => {
    const readme = await readFile(new URL('../README.md', import.meta.url), 'utf8');
    const section = readme.split(`\n## ${name}\n`)[1]!.split('\n## ')[0]!;
    for (const [option, { default: value = '' }] of Object.entries(
      options.properties as Record<string, { default?: unknown }>,
    ))
      if (!limits.includes(option)) expect(section).toContain(`| \`${option}\` | ${value} |`);
    for (const [reward, { weight }] of Object.entries(rewards))
      expect(section).toContain(`| \`${reward}\` | ${weight} |`);
  },
);
