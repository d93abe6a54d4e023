/** The memory of building an index does not grow with the corpus. */
import { execFile } from 'node:child_process';
import { mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'toolenv-memory-'));
});
afterAll(() => rm(folder, { recursive: true }));

const program = `
import { buildPassageIndex } from '@toolenv/tools-search';
const [passages, folder] = process.argv.slice(-2);
await buildPassageIndex({ passages, folder });
console.log(process.resourceUsage().maxRSS / 1024);
`;

const words = Array.from({ length: 50_021 }, (_, i) => `w${i}`);
/** A word that is stored, and too long to be indexed: text that takes memory where it is kept, and little time. */
const long = 'x'.repeat(1000);

/** Peak memory in MiB of a process that indexes so many passages of 20 words and a long one. */
async function peakOf(count: number): Promise<number> {
  const passages = join(folder, `${count}.jsonl`);
  const file = await open(passages, 'w');
  for (let first = 0; first < count; first += 1000) {
    const lines = Array.from({ length: 1000 }, (_, i) => {
      const text = Array.from(
        { length: 20 },
        (_, j) => words[((first + i) * 7919 + j * 104_729) % words.length],
      );
      return `${JSON.stringify({ id: `${first + i}`, title: `T${first + i}`, text: `${text.join(' ')} ${long}` })}\n`;
    });
    await file.write(lines.join(''));
  }
  await file.close();
  // A worker of LanceDB writes its postings when it holds this many MiB; 512 by default, which a small corpus never fills.
  const env = { ...process.env, LANCE_FTS_PARTITION_SIZE: '2' };
  const run = promisify(execFile)(
    process.execPath,
    ['--input-type=module', '-e', program, '--', passages, join(folder, `${count}`)],
    {
      env,
      cwd: import.meta.dirname,
    },
  );
  return Number((await run).stdout);
}

test('five times the passages need at most half as much memory again', async () => {
  const small = await peakOf(40_000);
  const large = await peakOf(200_000);
  console.log(
    `peak memory: ${Math.round(small)} MiB for 40,000 passages, ${Math.round(large)} MiB for 200,000`,
  );
  expect(large).toBeLessThan(1.5 * small);
}, 900_000);
