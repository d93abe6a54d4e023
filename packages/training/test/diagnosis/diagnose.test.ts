/** Diagnoses of runs that `make-runs.ts` has made: each fault is named first, and healthy runs have none. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { createRng, type RewardSpec } from '@toolenv/core';
import { expect, test } from 'vitest';
import { diagnose, type MetricsLine, readDiagnoses, readMetrics } from '../../src/index.ts';
import { readConfig } from '../../src/run-folder/run-config.ts';
import type { RunRecords } from '../../src/runs.ts';
import { faults, healthy } from './run-setups.ts';

const runs = join(import.meta.dirname, 'recorded');
const namesIn = (kind: 'faults' | 'healthy') => readdirSync(join(runs, kind)).sort();
const folders = [
  ...namesIn('faults').map((name) => join(runs, 'faults', name)),
  ...namesIn('healthy').map((name) => join(runs, 'healthy', name)),
];

async function recordsOf(folder: string): Promise<RunRecords> {
  const { trainerOptions, rewardSpec } = (await readConfig(folder))!;
  const options = trainerOptions as Record<string, unknown>;
  return { metrics: await readMetrics(folder), options, rewardSpec: rewardSpec as RewardSpec };
}

test('every run has its setup, and every fault its run', () => {
  expect(namesIn('faults')).toEqual(Object.keys(faults).sort());
  expect(namesIn('healthy')).toEqual(Object.keys(healthy).sort());
});

test.each(namesIn('faults'))('%s is the first diagnosis of the run that has it', async (name) => {
  const [first] = await readDiagnoses(join(runs, 'faults', name));
  expect(first?.name).toBe(name.split('.')[0]);
});

test.each(namesIn('healthy'))('%s has no diagnosis, after any number of steps', async (name) => {
  const records = await recordsOf(join(runs, 'healthy', name));
  const found = records.metrics.map((_, end) =>
    diagnose({ ...records, metrics: records.metrics.slice(0, end + 1) }),
  );
  expect(found.flat()).toEqual([]);
});

test('rewards that teach nothing are no fault of a run that learns from a teacher alone', async () => {
  for (const name of ['all-wrong', 'no-variance', 'process-reward-alone', 'constant-component']) {
    const records = await recordsOf(join(runs, 'faults', name));
    const taught = { ...records, options: { ...records.options, rewardCoefficient: 0 } };
    expect(diagnose(records).map((found) => found.name)).toContain(name);
    expect(diagnose(taught).map((found) => found.name)).not.toContain(name);
  }
});

test('a monitor that stays as it was, or falls, is no fault, and neither is one without a rising reward', async () => {
  const records = await recordsOf(join(runs, 'faults', 'monitor-rises'));
  const named = (metrics: readonly MetricsLine[]) =>
    diagnose({ ...records, metrics }).map(({ name }) => name);
  const changed = (change: (metrics: MetricsLine['metrics']) => object) =>
    records.metrics.map(
      (line) => ({ ...line, metrics: { ...line.metrics, ...change(line.metrics) } }) as MetricsLine,
    );
  const monitor = 'rewards/farming/mean';
  expect(named(records.metrics)).toContain('monitor-rises');
  expect(named(changed(() => ({ [monitor]: 0.1 })))).not.toContain('monitor-rises');
  expect(named(changed((metrics) => ({ [monitor]: 1 - metrics[monitor]! })))).not.toContain('monitor-rises');
  expect(named(changed(() => ({ reward: 0.5 })))).not.toContain('monitor-rises');
});

test('nothing is said of no record, of the first step, or of evaluations', async () => {
  for (const folder of folders) {
    const records = await recordsOf(folder);
    const first = records.metrics.filter(({ step }) => step === records.metrics[0]!.step);
    const evaluations = records.metrics.map((line): MetricsLine => ({ ...line, type: 'evaluation' }));
    for (const metrics of [[], first.slice(0, 1), first, evaluations])
      expect(diagnose({ ...records, metrics })).toEqual([]);
  }
});

test('the sentences have numbers, not NaN, and begin with the step of the evidence', async () => {
  for (const folder of folders)
    for (const { title, since, evidence, remedy, page } of await readDiagnoses(folder)) {
      expect(title).toMatch(/^[A-Z][^\n]*\d[^\n]*\.$/);
      expect(`${title} ${remedy}`).not.toMatch(/NaN|undefined|Infinity/);
      expect(since).toBeGreaterThan(0);
      expect([evidence.value, evidence.threshold].every(Number.isFinite)).toBe(true);
      expect(page).toMatch(/^https:\/\/[^#]+\.html(#[a-z-]+)?$/);
    }
});

test('damaged records are read as far as they go', async () => {
  const damages = [Number.NaN, Number.POSITIVE_INFINITY, null, 'many', {}, undefined];
  const rng = createRng(1);
  for (const folder of folders) {
    const { metrics, options, rewardSpec } = await recordsOf(folder);
    const lines = metrics.map((line) => {
      const entries = Object.entries(line.metrics).filter(() => rng.float() < 0.8);
      const damaged = entries.map(([name, value]) => [
        name,
        rng.float() < 0.2 ? damages[rng.int(damages.length)] : value,
      ]);
      return { ...line, metrics: Object.fromEntries(damaged) };
    });
    const spec = Object.entries(rewardSpec ?? {}).map(([name, component]) => [
      name,
      rng.float() < 0.5 ? damages[rng.int(damages.length)] : component,
    ]);
    for (const given of [options, undefined, null, { maxTokens: 'few' }])
      for (const rewards of [rewardSpec, undefined, null, Object.fromEntries(spec)])
        for (const { title } of diagnose({
          metrics: [...lines, null as never, { type: 'rollout', step: 3 } as never],
          options: given as never,
          rewardSpec: rewards as never,
        }))
          expect(title).not.toMatch(/NaN|undefined/);
  }
});
