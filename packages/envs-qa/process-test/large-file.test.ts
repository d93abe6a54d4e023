/** The memory that reading a dataset needs does not grow with its file. */
import { execFileSync } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';

const megabyte = 2 ** 20;
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'toolenv-large-file-'));
});
afterAll(() => rm(folder, { recursive: true }));

/** A JSON array in MuSiQue's format. */
async function write(name: string, megabytes: number): Promise<string> {
  const path = join(folder, name);
  const file = createWriteStream(path);
  const records = Readable.from(recordsOf(megabytes * megabyte));
  await (name.endsWith('.gz') ? pipeline(records, createGzip({ level: 1 }), file) : pipeline(records, file));
  return path;
}

function* recordsOf(bytes: number): Generator<string> {
  const text = 'Silver Harbour is a city by the sea. '.repeat(15);
  let written = 0;
  for (let number = 0; written < bytes; number++) {
    const paragraphs = Array.from({ length: 20 }, (_, idx) => ({
      idx,
      title: `Title ${number}-${idx}`,
      paragraph_text: `${number}-${idx} ${text}`,
      is_supporting: idx < 2,
    }));
    const record = {
      ...{ id: `2hop__${number}_1`, question: `Question ${number}?`, answer: 'Silver Harbour' },
      ...{ answer_aliases: [], answerable: true, question_decomposition: [], paragraphs },
    };
    const line = `${number === 0 ? '[' : ',\n'}${JSON.stringify(record)}`;
    written += line.length;
    yield line;
  }
  yield ']';
}

/** Opens musique-v1 with 100 of the file's records, in a process of its own, and returns the most memory that it had, in megabytes. */
function peak(path: string): { megabytes: number; tasks: number } {
  const program = `
    import { defineTool, openEnv } from '@toolenv/core';
    import musique from '@toolenv/envs-qa/musique-v1';
    const search = async () => defineTool({ name: 'search', description: '', inputSchema: { type: 'object' }, execute: () => '' });
    const open = await openEnv(musique, { path: ${JSON.stringify(path)}, trainCount: 100, validationCount: 10, testCount: 10, corpus: 'elsewhere' }, { tools: { search } });
    console.log(JSON.stringify({ megabytes: process.resourceUsage().maxRSS / 1024, tasks: open.tasks.train.length }));
  `;
  const args = ['--max-old-space-size=128', '--input-type=module', '-e', program];
  return JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8', cwd: import.meta.dirname }));
}

test('a file of 200 MB needs no more memory than a file of 20 MB, packed or not', async () => {
  const [small, large] = [await write('small.json', 20), await write('large.json', 200)];
  const packed = await write('large.json.gz', 200);
  expect((await stat(large)).size).toBeGreaterThan(200 * megabyte);
  const before = peak(small);
  for (const path of [large, packed]) {
    const { megabytes, tasks } = peak(path);
    expect(tasks).toBe(100);
    // Garbage may wait for its collector; the file would add 200 MB and more.
    expect(megabytes - before.megabytes).toBeLessThan(70);
  }
}, 300_000);
