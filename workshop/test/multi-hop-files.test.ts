/** The page of `npm run multi-hop-files`, its record, and the files that the runs read. */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openEnv } from '@toolenv/core';
import { bridgeQuestions, questionCounts } from '@toolenv/envs-qa';
import { expect, test } from 'vitest';
import { writeDatasets } from '../datasets/write-datasets.ts';
import { pageOf } from '../multi-hop-files/page.ts';
import { environments, optionsOf, type Run, readRuns } from '../multi-hop-files/runs.ts';

const benchmarks = join(import.meta.dirname, '../../docs/benchmarks');

test('the page is made from the record', async () => {
  const runs = await readRuns(join(benchmarks, 'multi-hop-files.jsonl'));
  expect(await readFile(join(benchmarks, 'multi-hop-files.md'), 'utf8')).toBe(pageOf(runs));
});

test('in every world, the policy learns from both files', async () => {
  const runs = await readRuns(join(benchmarks, 'multi-hop-files.jsonl'));
  const worlds = new Set(runs.map(({ seed }) => seed));
  expect(runs).toHaveLength(worlds.size * environments.length);
  for (const { environment, before, after } of runs) {
    const right = (scores: Run['after']) => scores.filter((score) => score === 1).length;
    expect(before, environment).toHaveLength(256);
    expect(right(after) - right(before), environment).toBeGreaterThan(128);
  }
});

test('files ask the questions of bridge-v1 in the same order', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'toolenv-files-'));
  try {
    await writeDatasets(folder, [bridgeQuestions], { seed: 3, counts: questionCounts });
    const asked = await Promise.all(
      environments.map(async (name) => {
        const env = await openEnv(`@toolenv/envs-qa/${name}`, optionsOf(name, folder), { seed: 3 });
        const tasks = Object.values(env.tasks).map((split) =>
          Array.from({ length: split.length }, (_, i) => split.get(i) as { question: string }),
        );
        await env.close();
        return tasks.map((split) => split.map(({ question }) => question));
      }),
    );
    expect(asked[0]!.map(({ length }) => length)).toEqual(Object.values(questionCounts));
    expect(asked[1]).toEqual(asked[0]);
    expect(asked[2]).toEqual(asked[0]);
  } finally {
    await rm(folder, { recursive: true });
  }
});

test('differences are paired with bridge-v1 of the same world', () => {
  const run = (environment: Run['environment'], seed: number, after: Run['after']): Run => ({
    ...{ environment, seed, after, before: [0, 0, 0, 0], steps: 40, count: 4 },
    ...{ policy: '0', commit: '1234567890', seconds: 90 },
  });
  const page = pageOf([
    run('bridge-v1', 1, [1, 1, 0, 1]),
    run('musique-v1', 1, [1, 1, 0, null]),
    run('bridge-v1', 2, [1, 0, 0, 1]),
    run('musique-v1', 2, [1, 0, 1, 1]),
  ]);
  // The aborted episode has no score, and its question no pair.
  expect(page).toContain(
    '| musique-v1 | 1 | 0.000 [0.000, 0.490] | 0.667 [0.208, 0.939] | +0.667 [+0.013, +1.320] | +0.000 [+0.000, +0.000] |',
  );
  expect(page).toContain('+0.250 [−0.240, +0.740] |\n');
  expect(page).toContain('`musique-v1` cannot be told apart from `bridge-v1`.');
});
