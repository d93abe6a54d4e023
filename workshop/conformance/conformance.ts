/**
 * `npm run conformance`: 10,000 fuzzed actions for each environment of the repository. No exception may escape, nothing
 * may hang, and memory must stay flat. Takes a minute or two.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bridgeQuestions, createQuestions, createWorld, writeRecords } from '@toolenv/envs-qa';
import { checkEnv, reportText } from '@toolenv/testing';

const actions = 10_000;
/** Memory is measured each time that so many actions were taken. */
const every = 500;
/** Growth of the heap from the second fifth of the actions to the last one: at most so many megabytes. */
const flat = 2;

const { gc } = globalThis;
if (!gc) throw new Error('Run it with node --expose-gc.');

const folder = await mkdtemp(join(tmpdir(), 'toolenv-conformance-'));
const path = join(folder, 'records.json');
await writeRecords(path, createQuestions(bridgeQuestions, createWorld(1), 'validation', 60));

const envs: [name: string, options: Record<string, unknown>][] = [
  ['bridge-v1', {}],
  ['comparison-v1', {}],
  ['compose-v1', {}],
  ['lookup-v1', {}],
  ['hotpotqa-v1', { path }],
];

let failed = false;
for (const [name, options] of envs) {
  const heap: number[] = [];
  const start = performance.now();
  const report = await checkEnv(`@toolenv/envs-qa/${name}`, {
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
  failed ||= !report.ok || !(growth < flat);
}
await rm(folder, { recursive: true });
if (failed) process.exitCode = 1;

function median(values: number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!;
}
