/** The gallery shows every environment that a package declares. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { declaredEnvironments, playable } from '../gallery/environments.ts';
import { conversationOf, episodeSvg } from '../gallery/episode-svg.ts';
import { libraryResults } from '../gallery/library-results.ts';

const folder = join(import.meta.dirname, '../../docs/environments');
const page = readFileSync(join(folder, 'README.md'), 'utf8');

test('each declared environment has a section, a command, and a picture if it plays alone', async () => {
  const declared = declaredEnvironments();
  expect(declared.length).toBeGreaterThan(18);
  for (const { ref, name, run, isRemote } of declared.map(playable)) {
    expect(page).toContain(`### ${name}\n`);
    expect(page).toContain(`npx toolenv eval ${ref} `);
    expect(existsSync(join(folder, `${name}.svg`)), `${name}: run npm run gallery`).toBe(!isRemote);
    expect(existsSync(join(folder, `${name}-curve.svg`))).toBe(
      run !== undefined || (await libraryResults(name)) !== undefined,
    );
  }
});

test('an episode is drawn from its question to its reward, and texts cannot break the picture', () => {
  const observation = { messages: [{ role: 'user', content: '2 < 3 & "so"\u0007' }], tools: [] };
  const action = { text: '', toolCalls: [{ id: '1', name: 'add', arguments: { a: 1 } }] };
  const lines = conversationOf({
    steps: [{ observation, action, calls: [{ text: 'x '.repeat(900) }], info: {} }],
    rewards: { right: 1, format: 0 },
    reward: 1,
  } as unknown as Parameters<typeof conversationOf>[0]);
  expect(lines.map(({ who }) => who)).toEqual(['user', 'assistant', 'tool', 'reward']);
  expect(lines[1]!.text).toBe('add({"a":1})');
  const svg = episodeSvg('An episode', lines);
  expect(svg).toContain('2 &lt; 3 &amp; "so"�');
  expect(svg.match(/<text /g)!.length).toBeLessThan(14);
});
