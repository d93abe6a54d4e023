/** Diagnoses of the runs whose numbers the recipe of the dashboard has. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { diagnose, type MetricsLine } from '../../src/index.ts';

const recipe = join(import.meta.dirname, '../../../../docs/recipes/reading-metrics.md');
const ofUpdates = ['kl', 'grad_norm', 'entropy'];

/** The lines of a run, from the table below a heading: a column for each metric, a row for each step. */
async function runBelow(heading: string): Promise<MetricsLine[]> {
  const section = (await readFile(recipe, 'utf8')).split(`\n## ${heading}\n`)[1]!.split('\n## ')[0]!;
  const rows = [...section.matchAll(/^\| (.*) \|$/gm)].map(([, row]) => row!.split(' | '));
  const names = rows[0]!.map((name) => name.replaceAll('`', ''));
  return rows.slice(2).flatMap((row) => {
    const values = row.map((text, index) => [names[index]!, Number(text)] as const);
    const metrics = values.slice(1).filter(([, value]) => Number.isFinite(value));
    const isOfUpdate = ([name]: readonly [string, number]) => ofUpdates.includes(name);
    const step = values[0]![1];
    return [
      { type: 'rollout', step, metrics: Object.fromEntries(metrics.filter((each) => !isOfUpdate(each))) },
      { type: 'update', step, metrics: Object.fromEntries(metrics.filter(isOfUpdate)) },
    ];
  });
}

test('the run that goes wrong has too high a learning rate, from its second step on', async () => {
  const metrics = await runBelow('A run that goes wrong');
  expect(metrics).toHaveLength(12);
  const [first] = diagnose({ metrics });
  expect(first).toMatchObject({
    name: 'learning-rate-too-high',
    since: 2,
    title:
      'From step 2 on, the reward is 0.002, after 0.12, and the KL to the start reaches 5.69 nats per token.',
    evidence: { metric: 'kl', value: 5.69, threshold: 1 },
    page: 'https://toolenv.github.io/toolenv/recipes/kl-runs-off.html#after-the-fall',
  });
  // Step 4 is the third bad step.
  const until = (step: number) => metrics.filter((line) => line.step <= step);
  expect(diagnose({ metrics: until(3) })).toEqual([]);
  expect(diagnose({ metrics: until(4) })[0]?.name).toBe('learning-rate-too-high');
});

test('the healthy run has no diagnosis', async () => {
  const metrics = await runBelow('A healthy run');
  expect(metrics).toHaveLength(10);
  expect(diagnose({ metrics })).toEqual([]);
});
