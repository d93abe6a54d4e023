/** The README has the options and rewards of the environment. */
import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import harbor from '../src/harbor-v1.ts';

const limits = ['maxTurns', 'maxCallsPerTurn', 'toolTimeout', 'maxToolCharacters'];

test('lists the options and rewards', async () => {
  const { options, rewards } = harbor;
  const readme = await readFile(new URL('../README.md', import.meta.url), 'utf8');
  for (const [option, { default: value = '' }] of Object.entries(
    options.properties as Record<string, { default?: unknown }>,
  ))
    if (!limits.includes(option)) expect(readme).toContain(`| \`${option}\` | ${value} |`);
  for (const [reward, { weight }] of Object.entries(rewards))
    expect(readme).toContain(`| \`${reward}\` | ${weight} |`);
});
