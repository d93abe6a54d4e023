/** Reading corpora: formats, compression, and files that are broken. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Passage, PassageFormat } from '../src/passages/passage-formats.ts';
import { openPassages, readPassages } from '../src/passages/read-passages.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'toolenv-passages-'));
});
afterAll(() => rm(folder, { recursive: true }));

async function read(content: string | Buffer, format?: PassageFormat): Promise<Passage[]> {
  const path = join(folder, 'file');
  await writeFile(path, content);
  const file = await openPassages(path, format);
  const passages: Passage[] = [];
  for await (const passage of readPassages(file)) passages.push(passage);
  return passages;
}

const jsonl = (...lines: object[]) => lines.map((line) => JSON.stringify(line)).join('\n');

test('reads lines of title and text', async () => {
  expect(await read(jsonl({ id: 'a', title: 'A', text: 'x' }, { text: 'y' }))).toEqual([
    { id: 'a', title: 'A', text: 'x' },
    { id: '1', title: '', text: 'y' },
  ]);
});

test('numbers as ids keep their digits', async () => {
  const lines = ['{"id": 2512292042121000001, "text": "x"}', '{"id": 2512292042121000002, "text": "y"}'];
  const ids = (await read(lines.join('\n'))).map(({ id }) => id);
  expect(ids).toEqual(['2512292042121000001', '2512292042121000002']);
});

test('reads BEIR', async () => {
  const line = { _id: 'MED-10', title: 'Statins', text: 'A study.', metadata: { url: 'u' } };
  expect(await read(jsonl(line))).toEqual([{ id: 'MED-10', title: 'Statins', text: 'A study.' }]);
});

test('reads the paragraphs of KILT without titles and headings', async () => {
  const text = ['Rhine\n', 'The Rhine is a river.\n', 'Section::::Name.\n', 'It is Celtic.\n'];
  const line = { _id: '25', wikipedia_id: '25', wikipedia_title: 'Rhine', text, anchors: [] };
  expect(await read(jsonl(line))).toEqual([
    { id: '25-1', title: 'Rhine', text: 'The Rhine is a river.' },
    { id: '25-3', title: 'Rhine', text: 'It is Celtic.' },
  ]);
});

test("reads Search-R1's Wikipedia dump", async () => {
  const line = { id: '0', contents: '"Aaron"\nAaron is a prophet.\nHe is "high priest".' };
  expect(await read(jsonl(line))).toEqual([
    { id: '0', title: 'Aaron', text: 'Aaron is a prophet.\nHe is "high priest".' },
  ]);
});

test('reads gzip, a byte order mark, CRLF and characters that are split between chunks', async () => {
  const text = '漢字🙂'.repeat(200_000);
  const file = `\uFEFF${JSON.stringify({ text })}\r\n\r\n${JSON.stringify({ text: 'b' })}\r\n`;
  for (const content of [file, gzipSync(file)]) {
    expect((await read(content)).map((passage) => passage.text)).toEqual([text, 'b']);
  }
});

test.each([
  ['', 'has no passages'],
  ['{"a": 1}', 'line 1, is of no known format'],
  [`${jsonl({ text: 'x' })}\n{"text": `, 'line 2, is not JSON'],
  [jsonl({ text: 'x' }, { title: 'no text' }), 'line 2, is not of the format jsonl: it needs "text"'],
  [jsonl({ text: 'x' }, [1]), 'line 2, is not of the format'],
  [Buffer.from(jsonl({ text: 'Müller' }), 'latin1'), 'is not UTF-8'],
  [Buffer.from(jsonl({ text: 'x' }), 'utf16le'), 'is not JSON'],
  [gzipSync(jsonl({ text: 'x'.repeat(1000) })).subarray(0, 30), 'cannot be read'],
])('names what is wrong with %j', async (content, message) => {
  await expect(read(content)).rejects.toMatchObject({
    code: 'usage.passages',
    message: expect.stringContaining(message),
  });
});

test('refuses a file that does not exist', async () => {
  await expect(openPassages(join(folder, 'none'))).rejects.toMatchObject({ code: 'usage.passages' });
});
