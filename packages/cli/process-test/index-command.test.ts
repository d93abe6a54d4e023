/** `toolenv index` and `toolenv serve --tool`: a build that is killed or meets a full disk loses nothing. */
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { openPassageIndex } from '@toolenv/tools-search';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { runCli } from '../test/run-cli.ts';
import { canMount, SmallDisk } from '../test/small-disk.ts';
import { startCli } from '../test/start-cli.ts';

let folder: string;
let passages: string;
/** Several batches. */
const count = 25_000;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'toolenv-index-'));
  passages = join(folder, 'passages.jsonl');
  // The text cannot be compressed well, so that it fills a disk.
  const text = (i: number) =>
    Array.from({ length: 20 }, (_, j) => ((i * 7919 + j * 104_729) % 999_983).toString(36));
  const lines = Array.from({ length: count }, (_, i) =>
    JSON.stringify({ id: `${i}`, contents: `"Title ${i}"\n${text(i).join(' ')} place${i}` }),
  );
  writeFileSync(passages, lines.join('\n'));
});
afterAll(() => rmSync(folder, { recursive: true }));

async function expectWhole(index: string): Promise<void> {
  const opened = await openPassageIndex(index);
  expect(opened.size).toBe(count);
  const queries = Array.from({ length: 25 }, (_, i) => `place${i * 1000 + 999}`);
  const hits = await opened.search(queries, { limit: 3 });
  expect(hits.map((each) => each.map(({ id }) => id))).toEqual(queries.map((query) => [query.slice(5)]));
  await opened.close();
}

it('goes on after kill -9', async () => {
  // A folder appears before its first version, and each batch is a version of the table of passages.
  const moments = [
    '.',
    'about.lance',
    'about.lance/_versions',
    'passages.lance',
    'passages.lance/_versions/*',
  ];
  const out = join(folder, 'killed');
  const hasCome = (moment: string): boolean =>
    moment.endsWith('/*')
      ? hasCome(dirname(moment)) && readdirSync(join(out, dirname(moment))).length > 0
      : existsSync(join(out, moment));
  for (const moment of moments) {
    const { child, finished } = startCli(['index', passages, '--out', out]);
    while (child.exitCode === null && !hasCome(moment)) await sleep(1);
    child.kill('SIGKILL');
    expect((await finished).code).toBe(null);
  }
  expect(await runCli('index', passages, '--out', out)).toMatchObject({ code: 0 });
  await expectWhole(out);
});

it.runIf(canMount())('goes on after a full disk', async () => {
  const disk = new SmallDisk(3_000);
  try {
    const out = join(disk.folder, 'index');
    const full = await runCli('index', passages, '--out', out);
    expect(full.code).not.toBe(0);
    // A slow machine shows the progress first.
    expect(full.stderr).toMatch(
      /^(adding\b.*\n)*toolenv: .*the disk is full\. Make room and repeat the command.*\n$/,
    );
    disk.remount('size=200m');
    expect((await runCli('index', passages, '--out', out)).code).toBe(0);
    await expectWhole(out);
  } finally {
    disk.remove();
  }
});

it('names the line that is broken', async () => {
  const broken = join(folder, 'broken.jsonl');
  writeFileSync(broken, '{"text": "a"}\n{"text": "b"\n');
  const { code, stderr } = await runCli('index', broken, '--out', join(folder, 'none'));
  expect({ code, stderr }).toEqual({
    code: 2,
    stderr: `toolenv: ${broken}, line 2, is not JSON: repair or remove the line.\n`,
  });
});

it('serves a search tool to trainers in Python', async () => {
  const out = join(folder, 'served');
  const small = join(folder, 'small.jsonl');
  writeFileSync(small, '{"id": 1, "contents": "\\"Ada\\"\\nA programmer."}\n');
  expect((await runCli('index', small, '--out', out, '--no-stem')).code).toBe(0);
  const ref = `@toolenv/tools-search/index-search-v1?folder=${out}`;
  const { child, finished } = startCli(['serve', '--tool', `search=${ref}`, '--http', '0']);
  const [line] = (await once(child.stderr!, 'data')) as [string];
  const url = / is served at (http:\/\/127\.0\.0\.1:\d+)\n$/.exec(line)![1]!;
  const body = JSON.stringify({ queries: ['programmer'], topk: 3, return_scores: true });
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(`${url}/retrieve`, { method: 'POST', body, headers });
  expect(await response.json()).toEqual({
    result: [
      [
        {
          document: { id: '1', title: 'Ada', text: 'A programmer.', contents: '"Ada"\nA programmer.' },
          score: expect.any(Number),
        },
      ],
    ],
  });
  child.kill('SIGINT');
  expect((await finished).code).toBe(130);
});

it('says what to serve', async () => {
  const nothing = await runCli('serve');
  expect(nothing.code).toBe(2);
  expect(nothing.stderr).toContain(
    'an environment, a policy with --openai <policy>, or a search tool with --tool search=<reference>',
  );
  const other = await runCli('serve', '--tool', 'read=@toolenv/tools-search/search-v1');
  expect(other.stderr).toContain('serve one tool: --tool search=<reference>');
});
