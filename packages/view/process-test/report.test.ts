/** makeReport: what a report has, what it must never have, and how large it may be. */
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { appendFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { encodeTrajectory } from '@toolenv/core/recording';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { episodeOf, makeRun } from '../browser-test/make-run.ts';
import { chooseEpisodes, reportOf } from '../src/report/make-report.ts';
import type { ReportData } from '../src/report/report-data.ts';
import { reportHtml } from '../src/report/report-html.ts';
import { ViewedRuns } from '../src/view/viewed-runs.ts';

// The page is built by other commands.
const parts = { script: 'let page;', style: 'a {}', licenses: 'MIT' };
const makeReport = (runs: string[]) => reportOf({ runs }, parts);

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'report-'));
});
afterAll(() => rm(folder, { recursive: true }));

function dataOf(html: string): ReportData {
  const [, base64] = /<script type="text\/plain" id="report">([^<]*)<\/script>/.exec(html)!;
  return JSON.parse(gunzipSync(Buffer.from(base64!, 'base64')).toString());
}

test('a report has the overview, curves, options, rows, and the episodes that say most', async () => {
  await makeRun(join(folder, 'run'), { steps: 6, seed: 1 });
  const data = dataOf(await makeReport([join(folder, 'run')]));
  const [run] = data.runs;
  expect(run!.head).toMatchObject({ name: 'run', path: 'run', facts: { seed: 1 } });
  expect(run!.overview.progress).toEqual({ unit: 'step', done: 6 });
  expect(run!.metrics).toHaveLength(12);
  expect(run!.rows).toHaveLength(6 * 64);
  const shown = Object.values(run!.episodes);
  expect(shown).toHaveLength(48);
  expect(new Set(shown.map(({ row }) => row.end))).toEqual(
    new Set(['terminated:answered', 'truncated:max_turns']),
  );
  expect(shown.some(({ row }) => row.mistakes.includes('unknown_tool'))).toBe(true);
  expect(shown[0]!.texts.turns[0]!.sampled).toHaveLength(8);
});

test('no text of an episode is part of the document, and nothing is loaded', async () => {
  const path = join(folder, 'hostile');
  await mkdir(path);
  const evil =
    '</script><script>alert(1)</script><!--\u2028\u2029<img src=x onerror=alert(1)>"\'`$' + '{alert(1)}';
  const episode = episodeOf(1, 0);
  const { action } = episode.steps[1]!;
  action.text = evil;
  episode.steps[0]!.observation.messages[1]!.content = evil;
  episode.steps[0]!.calls[0]!.call = { id: evil, name: '__proto__', arguments: { [evil]: evil } };
  const lines = [encodeTrajectory({ ...episode, task: { answer: evil } }), '{"version":1}', 'null', evil];
  await writeFile(join(path, 'trajectories.jsonl'), `${lines.join('\n')}\n`);
  const config = JSON.stringify({ env: evil, policy: 'p', trainerOptions: { [evil]: evil } });
  await writeFile(
    join(path, 'config.json'),
    config.replace('{', '{"__proto__":{"ran":1},"constructor":{"ran":1},'),
  );
  const metrics = { reward: 'NaN', [evil]: null, 'rewards/__proto__/mean': 1 };
  const damaged = { type: evil, step: -1, metrics: null };
  const updates = [{ type: 'rollout', step: 1, metrics }, damaged].map((line) => JSON.stringify(line));
  await writeFile(join(path, 'metrics.jsonl'), `${updates.join('\n')}\n`);
  const html = await makeReport([path]);
  expect(html).not.toMatch(/alert|onerror|\u2028|\u2029/);
  expect(html.match(/<script/g)).toHaveLength(2);
  expect(dataOf(html).runs[0]!.episodes[0]!.episode.steps[1]!.action.text).toBe(evil);
  expect({}).not.toHaveProperty('ran');
  // The policy allows the one script, by its digest.
  expect(html).toMatch(/content="default-src 'none'; script-src 'sha256-[\w+/=]{44}'; /);
  expect(html).not.toMatch(/(src|href)="(?!data:)/);
});

test('a script that ends itself, and a run with a name of HTML, stay what they are', () => {
  const head = { name: '</title><script>alert(1)</script>' };
  const data = { version: 1, made: '', runs: [{ head }] } as unknown as ReportData;
  const html = reportHtml(data, {
    script: 'f("</script>", "<!--")',
    style: 'a::after{content:"</style>"}',
    licenses: '<b>',
  });
  expect(html).toContain('f("<\\/script>", "\\x3C!--")');
  expect(html).toContain('content:"<\\/style>"');
  expect(html).toContain('<title>toolenv: &lt;/title&gt;&lt;script&gt;alert(1)&lt;/script&gt;</title>');
});

test('keys of the configuration leave it, and the texts that repeat them', async () => {
  const path = join(folder, 'keys');
  const key = 'sk-live-0123456789abcdef';
  await makeRun(path, { steps: 1, seed: 1 });
  const config = JSON.parse(await readFile(join(path, 'config.json'), 'utf8'));
  const policyOptions = {
    apiKey: key,
    headers: { Authorization: 'Bearer tok-9876543210' },
    url: `https://example.com/v1?api_key=query-key-123456`,
    maxTokens: 64,
  };
  await writeFile(join(path, 'config.json'), JSON.stringify({ ...config, policyOptions }));
  const episode = episodeOf(1, 0);
  episode.steps[1]!.action.text = `The server said: ${key} and tok-9876543210 are wrong.`;
  await writeFile(join(path, 'trajectories.jsonl'), `${encodeTrajectory(episode)}\n`);
  vi.stubEnv('OPENAI_API_KEY', 'env-key-0123456789');
  await writeFile(
    join(path, 'changes.jsonl'),
    `${JSON.stringify({ step: 1, changes: { 'policyOptions.apiKey': { from: 'old-key-000000', to: 'env-key-0123456789' } } })}\n`,
  );
  const data = dataOf(await makeReport([path]));
  const text = JSON.stringify(data);
  for (const secret of [key, 'tok-9876543210', 'query-key-123456', 'env-key-0123456789', 'old-key-000000'])
    expect(text).not.toContain(secret);
  expect(data.runs[0]!.head.facts.policyOptions).toMatchObject({ apiKey: '[redacted]', maxTokens: 64 });
  expect(data.runs[0]!.episodes[0]!.row.answer).toContain('The server said: [redacted]');
});

test('10,000 episodes fit into 3 MB', { timeout: 120_000 }, async () => {
  const path = join(folder, 'large');
  await makeRun(path, { steps: 157, seed: 1 });
  const html = await makeReport([path]);
  process.stdout.write(`a report of 10,048 episodes has ${Buffer.byteLength(html)} bytes\n`);
  expect(Buffer.byteLength(html)).toBeLessThan(2_700_000);
  const [run] = dataOf(html).runs;
  expect(run!.rows).toHaveLength(10_048);
  expect(Object.keys(run!.episodes)).toHaveLength(48);
});

test('what does not fit is left out: episodes of many bytes that do not compress', async () => {
  const path = join(folder, 'noisy');
  await mkdir(path);
  const noise = () => Array.from({ length: 12_000 }, () => Math.random().toString(36).slice(2)).join('');
  const lines = Array.from({ length: 48 }, (_, index) => {
    const episode = episodeOf(1, index);
    episode.steps[1]!.action.text = noise();
    return `${encodeTrajectory(episode)}\n`;
  });
  await writeFile(join(path, 'trajectories.jsonl'), lines.join(''));
  const html = await makeReport([path]);
  expect(Buffer.byteLength(html)).toBeLessThanOrEqual(3_000_000);
  const [run] = dataOf(html).runs;
  expect(run!.rows).toHaveLength(48);
  expect(Object.keys(run!.episodes).length).toBeGreaterThan(5);
});

test('a configuration, an episode and names of metrics of megabytes fit into 3 MB', async () => {
  const path = join(folder, 'huge');
  await makeRun(path, { steps: 1, seed: 1 });
  const noise = () => randomBytes(3_000_000).toString('base64');
  const config = JSON.parse(await readFile(join(path, 'config.json'), 'utf8'));
  await writeFile(join(path, 'config.json'), JSON.stringify({ ...config, note: noise() }));
  const episode = episodeOf(2, 0);
  episode.steps[1]!.action.text = noise();
  await appendFile(join(path, 'trajectories.jsonl'), `${encodeTrajectory(episode)}\n`);
  const line = { type: 'update', step: 2, metrics: { [noise()]: 1 } };
  await appendFile(join(path, 'metrics.jsonl'), `${JSON.stringify(line)}\n`);
  expect(Buffer.byteLength(await makeReport([path]))).toBeLessThanOrEqual(3_000_000);
});

test.each(['config', 'trajectories', 'metrics', 'tokens', 'changes', 'end'])(
  'a pipe in the place of %s does not stop the report',
  async (name) => {
    const path = join(folder, `pipe-${name}`);
    await makeRun(path, { steps: 1, seed: 1 });
    const file = join(path, /config|end/.test(name) ? `${name}.json` : `${name}.jsonl`);
    await rm(file, { force: true });
    execFileSync('mkfifo', [file]);
    // It is made, or refused in one line.
    const made = await makeReport([path]).catch(({ message }: Error) => message);
    expect(made).toMatch(/^(<!doctype html>|[^\n]+$)/);
  },
);

test('the episodes that a diagnosis names come first', async () => {
  await makeRun(join(folder, 'diagnosed'), { steps: 3, seed: 1 });
  const runs = new ViewedRuns([join(folder, 'diagnosed')]);
  await runs.close();
  const rows = runs.find('diagnosed').episodes!.rows;
  const diagnosis = { episodes: { outcome: 'truncated:max_turns', step: '2..' } };
  const numbers = chooseEpisodes(rows, { diagnoses: [diagnosis] } as unknown as Parameters<
    typeof chooseEpisodes
  >[1]);
  expect(numbers.slice(0, 4).map((number) => [rows[number]!.end, rows[number]!.step! >= 2])).toEqual(
    Array(4).fill(['truncated:max_turns', true]),
  );
  expect(new Set(numbers).size).toBe(numbers.length);
});
