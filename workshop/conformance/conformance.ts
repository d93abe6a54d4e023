/**
 * `npm run conformance`: checks each environment of the repository with 10,000 fuzzed actions. No exception may escape,
 * nothing may hang, and memory must stay flat.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bridgeQuestions, createQuestions, createWorld, writeRecords } from '@toolenv/envs-qa';
import { checkEnv, reportText } from '@toolenv/testing';
import { median } from '../bench/median.ts';

const actions = 10_000;
/** Number of actions between two measurements of memory. */
const every = 500;
/** Largest growth of the heap in megabytes, from the median of the second fifth of the actions to that of the last fifth. */
const flat = 2;

const { gc } = globalThis;
if (!gc) throw new Error('Run it with node --expose-gc.');

const folder = await mkdtemp(join(tmpdir(), 'toolenv-conformance-'));
const path = join(folder, 'records.json');
await writeRecords(path, createQuestions(bridgeQuestions, createWorld(1), 'validation', 60));

const envs: [ref: string, options: Record<string, unknown>][] = [
  ['@toolenv/envs-classic/arithmetic-v1', {}],
  ['@toolenv/envs-classic/sql-v1', {}],
  ['@toolenv/envs-classic/wordle-v1', {}],
  ['@toolenv/envs-qa/bridge-v1', {}],
  ['@toolenv/envs-qa/comparison-v1', {}],
  ['@toolenv/envs-qa/compose-v1', {}],
  ['@toolenv/envs-qa/hotpotqa-v1', { path }],
  ['@toolenv/envs-qa/lookup-v1', {}],
];

let failed = false;
for (const [ref, options] of envs) {
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
