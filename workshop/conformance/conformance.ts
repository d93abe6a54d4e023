/**
 * `npm run conformance`: checks each environment of the repository with 10,000 fuzzed actions, or 400 if each episode starts a
 * process or a thread. No exception may escape, nothing may hang, and memory must stay flat. `harbor-v1` starts containers, and is
 * checked by `npm run chaos -- harbor`.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { listPlugins } from '@toolenv/core/plugins';
import { bridgeQuestions, createQuestions, createWorld, writeRecords } from '@toolenv/envs-qa';
import { checkEnv, reportText } from '@toolenv/testing';
import { median } from '../bench/median.ts';
import { toMusiqueFull, worldRecords } from '../datasets/world-dataset.ts';
import { writeProblems } from '../datasets/write-problems.ts';

/** Number of measurements of memory, spread over the actions. */
const measurements = 20;
/** Largest growth of the heap in megabytes, from the median of the second fifth of the actions to that of the last fifth. */
const flat = 2;

const { gc } = globalThis;
if (!gc) throw new Error('Run it with node --expose-gc.');

const folder = await mkdtemp(join(tmpdir(), 'toolenv-conformance-'));
const path = join(folder, 'records.json');
await writeRecords(path, createQuestions(bridgeQuestions, createWorld(1), 'validation', 60));
const allHops = join(folder, 'all-hops.jsonl');
const items = worldRecords([bridgeQuestions], { seed: 1, split: 'validation', count: 60 });
await writeFile(
  allHops,
  items
    .flatMap(toMusiqueFull)
    .map((value) => JSON.stringify(value))
    .join('\n'),
);

/** The options with which an environment has tasks. */
const needed: Readonly<Record<string, Record<string, unknown>>> = {
  '2wikimultihopqa-v1': { path },
  'gsm8k-v1': await writeProblems(folder),
  'hotpotqa-v1': { path },
  'musique-full-v1': { path: allHops },
  'musique-v1': { path: allHops },
};
const envs = listPlugins()
  .filter(({ kind, ref }) => kind === 'envs' && /^@toolenv\/envs-(?!harbor)/.test(ref))
  .map(({ ref }): [string, Record<string, unknown>] => [ref, needed[ref.split('/')[2]!] ?? {}]);

let failed = false;
for (const [ref, options] of envs) {
  const actions = /^@toolenv\/envs-(code|mcp)\//.test(ref) ? 400 : 10_000;
  const every = actions / measurements;
  const heap: number[] = [];
  const start = performance.now();
  const report = await checkEnv(ref, {
    options,
    actions,
    onActions(count) {
      if (count < every * (heap.length + 1)) return;
      gc();
      heap.push(process.memoryUsage().heapUsed / 2 ** 20);
    },
  });
  const seconds = (performance.now() - start) / 1000;
  const fifth = heap.length / 5;
  const growth = median(heap.slice(-fifth)) - median(heap.slice(fifth, 2 * fifth));
  const rss = process.memoryUsage.rss() / 2 ** 20;
  console.log(reportText(report));
  console.log(
    `  ${actions} actions in ${seconds.toFixed(1)} s; heap grew by ${growth.toFixed(2)} MB; ${rss.toFixed(0)} MB resident`,
  );
  failed ||= !report.ok || report.warnings.length > 0 || !(growth < flat);
}
await rm(folder, { recursive: true });
if (failed) process.exitCode = 1;
