/** The numbers of the pages are those of docs/benchmarks. `npm run numbers` puts them there. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { recordRun } from '../demo/record.ts';
import { readBenchmarkFiles } from '../numbers/benchmark-files.ts';
import { figuresOf } from '../numbers/figures.ts';
import { fill } from '../numbers/fill.ts';
import { pages, root } from '../numbers/pages.ts';
import { newFolder } from './new-folder.ts';

const files = readBenchmarkFiles();
const figures = figuresOf(files);
const isMarked = (page: string) =>
  readFileSync(join(root, page), 'utf8').match(/(?<!`)<!-- number: /) !== null;

test.each(pages().filter(isMarked))('%s shows the numbers of docs/benchmarks', (page) => {
  const text = readFileSync(join(root, page), 'utf8');
  expect(text, 'run `npm run numbers`').toBe(fill(text, figures));
});

test('the README and the pages of benchmarks are marked', () => {
  const benchmarks = ['README', 'trl'].map((name) => `docs/benchmarks/${name}.md`);
  expect(pages().filter(isMarked)).toEqual(expect.arrayContaining(['README.md', ...benchmarks]));
});

test('a figure changes with its data', () => {
  const demo = files.demo.map((run) =>
    run.seed === 2 && !run.shuffleRewards ? { ...run, emAfter: 0.5 } : run,
  );
  const changed = figuresOf({ ...files, demo });
  expect(figures.get('demo.after')).toBe('95 to 98 %');
  expect(changed.get('demo.after')).toBe('50 to 98 %');
  expect(changed.get('demo.table')).toContain('| 2 | 0.051 | 0.500 | 0.070 | 0.863 | 2:35 |');
  expect(changed.get('trl.table')).toBe(figures.get('trl.table'));
});

test('the figures of SmolLM2 are there once it was measured', () => {
  const sample = { ours: { firstToken: 812.4, token: 31.07, peakMemory: 1.2e9 } };
  const learn = { ours: { tokensPerSecond: 310, peakMemory: 2.8e9 } };
  const sampled = [1, 8].map((conversations) => ({ name: 'sample' as const, conversations, sides: sample }));
  const learned = (['lora', 'all'] as const).map((name) => ({ name, sides: learn }));
  const run = { name: 'smollm2' as const, results: [...sampled, ...learned] };
  const later = {
    name: 'smollm2' as const,
    results: [{ name: 'long' as const, rows: 1, sides: { ours: { tokensPerSecond: 90, peakMemory: 3e9 } } }],
  };
  const measured = figuresOf({
    ...files,
    bench: [...files.bench.filter(({ name }) => name !== 'smollm2'), run, later],
  });
  expect(measured.get('smollm2.sampling')).toContain(
    '| toolenv, float32 | 812 + 31.1 | 812 + 31.1 |  | 1.20 GB |',
  );
  expect(measured.get('smollm2.training')).toContain(
    '| toolenv, float32 | 310 (2.80 GB) | 310 (2.80 GB) |  | 90 (3.00 GB) |',
  );
});

test('a page is filled between its marks, and nowhere else', () => {
  const known = new Map([
    ['a', '1.5'],
    ['b', '\n\n| x |\n\n'],
  ]);
  const page = 'A <!-- number: a -->0<!-- /number -->, 0 and\n\n<!-- number: b --><!-- /number -->\n';
  const filled =
    'A <!-- number: a -->1.5<!-- /number -->, 0 and\n\n<!-- number: b -->\n\n| x |\n\n<!-- /number -->\n';
  expect(fill(page, known)).toBe(filled);
  expect(fill(filled, known)).toBe(filled);
  expect(fill('Write `<!-- number: name -->`.', known)).toBe('Write `<!-- number: name -->`.');
  expect(() => fill('A <!-- number: c -->0<!-- /number -->', known)).toThrow('no number c. There are: a, b.');
  expect(() => fill('A <!-- number: a -->0', known)).toThrow('1 numbers begin, and 0 of them end.');
  expect(() => fill('<!-- number: a -->0<!-- /number --> times', known)).toThrow('begins a line');
});

test('a run of the demo takes the place of the earlier run with its seed and rewards', async () => {
  const folder = await newFolder();
  const file = join(folder, 'demo.jsonl');
  const scores = { emBefore: 0.1, emAfter: 0.5, emBeforeSampled: 0.1, emAfterSampled: 0.4 };
  const run = { seed: 1, steps: 80, heldOut: 256, shuffleRewards: false, seconds: 140, ...scores };
  for (const each of [run, { ...run, seed: 2 }, { ...run, shuffleRewards: true }, { ...run, emAfter: 0.75 }])
    await recordRun(file, each);
  const lines = readFileSync(file, 'utf8').trim().split('\n');
  const recorded = lines.map((line) => JSON.parse(line));
  expect(recorded.map(({ seed, shuffleRewards, emAfter }) => [seed, shuffleRewards, emAfter])).toEqual([
    [1, false, 0.75],
    [2, false, 0.5],
    [1, true, 0.5],
  ]);
  expect(recorded[0].commit).toMatch(/^[0-9a-f]{10}\+?$/);
});
