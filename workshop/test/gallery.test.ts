/** The gallery shows every environment that a package declares. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Result } from '../../studies/library/results.ts';
import { readResults } from '../../studies/shared/result-file.ts';
import { factsRow } from '../gallery/environment-facts.ts';
import { declaredEnvironments, playable } from '../gallery/environments.ts';
import { conversationOf, episodeSvg } from '../gallery/episode-svg.ts';
import { libraryResults } from '../gallery/library-results.ts';

const folder = join(import.meta.dirname, '../../docs/environments');
const results = await readResults<Result>(join(folder, '../benchmarks/library.jsonl'));
const page = readFileSync(join(folder, 'README.md'), 'utf8');

test('each declared environment has a section, a command, and a picture if it plays alone', () => {
  const declared = declaredEnvironments();
  expect(declared.length).toBeGreaterThan(18);
  for (const { ref, name, run, isRemote } of declared.map(playable)) {
    expect(page).toContain(`### ${name}\n`);
    expect(page).toContain(`npx toolenv eval ${ref} `);
    expect(existsSync(join(folder, `${name}.svg`)), `${name}: run npm run gallery`).toBe(!isRemote);
    expect(existsSync(join(folder, `${name}-curve.svg`))).toBe(
      run !== undefined || libraryResults(name, results) !== undefined,
    );
  }
});

test('the table says by what a reader chooses each environment', () => {
  const rows = [...page.matchAll(/^\| \[(\S+)\]\(#(\S+)\) \| (.+) \|$/gm)].map(([, name, anchor, cells]) => ({
    name,
    anchor,
    cells: cells!.split(' | '),
  }));
  expect(rows.map(({ name }) => name)).toEqual(declaredEnvironments().map(({ name }) => name));
  expect(rows.every(({ name, anchor }) => name === anchor)).toBe(true);
  const of = (wanted: string) => rows.find(({ name }) => name === wanted)!.cells;
  expect(of('bridge-v1')).toEqual(['`search`', '3', 'made by a generator', 'the small policy, SmolLM2-135M']);
  expect(of('gsm8k-v1')[2]).toBe('a file');
  expect(of('harbor-v1')[2]).toBe('containers');
  expect(of('wordle-v1')[0]).toBe('none');
  expect(of('ors-v1')).toEqual(["the server's", '–', 'a server', '–']);
});

test('a row names few tools, and counts many', () => {
  const facts = { tools: ['a', 'b', 'c', 'd'], turns: [1, 1] as const, tasks: 'a file' as const };
  expect(factsRow('x-v1', facts, [])).toBe('| [x-v1](#x-v1) | `a`, `b`, `c`, `d` | 1 | a file | – |');
  const many = { ...facts, tools: [...facts.tools, 'e'], turns: [2, 5] as const };
  expect(factsRow('x-v1', many, ['small'])).toBe('| [x-v1](#x-v1) | 5 tools | 2 to 5 | a file | small |');
});

test('the results of the library are those of the newest policy, as means over seeds', () => {
  const of = (row: Result['row'], seed: number, all: number, policy = 'new'): Result => {
    const success = { all, leftOut: null, leftOutTasks: 0 };
    const curve: Result['curve'] = [
      [0, 0.2],
      [10, all],
    ];
    const run = { steps: 10, policy, seconds: 1, commit: 'c', curve };
    return { environment: 'bank', row, seed, greedy: success, sampled: success, ...run };
  };
  const start = of('Start', 1, 0.25);
  const rows = [of('GRPO', 1, 0, 'old'), start, of('GRPO', 1, 0.5), of('GRPO', 2, 0.7)];
  expect(libraryResults('bank-v1', rows)).toBeUndefined();
  const { chart, text } = libraryResults('bank-v1', [...rows, of('SFT on demonstrations', 1, 0.3)])!;
  expect(text).toContain(
    'solves 0.25 of the test tasks before training, 0.30 after more supervised training, and 0.60 after GRPO',
  );
  expect(chart).toContain('The small policy learns bank-v1 by GRPO');
  expect(libraryResults('sql-v1', rows)).toBeUndefined();
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
