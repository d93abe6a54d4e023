/** LineTail: lines of a file that grows, is cut, or is replaced. */
import { appendFile, mkdtemp, rename, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { LineTail, type TailLine } from '../src/view/line-tail.ts';

async function fileIn(): Promise<string> {
  return join(await mkdtemp(join(tmpdir(), 'toolenv-tail-')), 'lines.jsonl');
}

async function readAll(tail: LineTail, onRestart = () => {}): Promise<TailLine[]> {
  const lines: TailLine[] = [];
  for await (const line of tail.read(onRestart)) lines.push(line);
  return lines;
}

it('gives each line once, when its line break has been written, and finds it again by its place', async () => {
  const line = fc
    .string({ unit: 'grapheme', minLength: 1, maxLength: 40 })
    .filter((text) => !text.includes('\n'));
  await fc.assert(
    fc.asyncProperty(
      fc.array(line, { minLength: 1, maxLength: 8 }),
      fc.infiniteStream(fc.integer({ min: 1, max: 30 })),
      async (lines, sizes) => {
        const file = await fileIn();
        const tail = new LineTail(file);
        const bytes = Buffer.from(lines.map((text) => `${text}\n`).join(''));
        const read: TailLine[] = [];
        for (let at = 0; at < bytes.length; ) {
          const size = sizes.next().value!;
          await appendFile(file, bytes.subarray(at, at + size));
          at += size;
          read.push(...(await readAll(tail)));
        }
        expect(read.map(({ text }) => text)).toEqual(lines);
        const again: string[] = [];
        for await (const text of tail.lines(read)) again.push(text);
        expect(again).toEqual(lines);
      },
    ),
    { numRuns: 40 },
  );
});

it('reads lines that are longer than a chunk', async () => {
  const file = await fileIn();
  const long = 'ü'.repeat(1_600_000);
  await writeFile(file, `a\n${long}\nb\n`);
  const lines = await readAll(new LineTail(file));
  expect(lines.map(({ text }) => text.length)).toEqual([1, 1_600_000, 1]);
  expect(lines[1]!.length).toBe(3_200_000);
});

it.each([
  ['is cut', (file: string) => writeFile(file, 'new\n')],
  [
    'is replaced by a longer file',
    async (file: string) => {
      await writeFile(`${file}.partial`, 'new\nfirst\nsecond\nthird\n');
      await rename(`${file}.partial`, file);
    },
  ],
])('begins again when the file %s', async (_, change) => {
  const file = await fileIn();
  await writeFile(file, 'first\nsecond\n');
  const tail = new LineTail(file);
  expect(await readAll(tail)).toHaveLength(2);
  await change(file);
  let restarts = 0;
  const lines = await readAll(tail, () => {
    restarts += 1;
  });
  expect(restarts).toBe(1);
  expect(lines[0]).toEqual({ text: 'new', offset: 0, length: 3 });
});

it('has no lines before the file exists', async () => {
  const file = await fileIn();
  const tail = new LineTail(file);
  expect(await readAll(tail)).toEqual([]);
  await writeFile(file, 'first\n');
  expect(await readAll(tail)).toHaveLength(1);
});
