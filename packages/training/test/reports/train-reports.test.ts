/** A run that reports to sinks: what they get, what a resumed run continues, and that they cannot harm it. */
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TrainablePolicy } from '@toolenv/core/learner';
import type { TrainEvent } from '@toolenv/core/plugins';
import { registerSecret } from '@toolenv/core/secrets';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openLadder } from '../../../core/test/ladder-env.ts';
import { TableLearner, TablePolicy } from '../../../testing/test/table-model.ts';
import { defineTrainer, type RunOptions, readMetrics, train } from '../../src/index.ts';
import type { MetricSink } from '../../src/reports/metric-sink.ts';
import { RecordingSink, warningsOf } from './recording-sink.ts';

let folder: string;
let out: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'reports-'));
  out = join(folder, 'run');
});
afterEach(() => rm(folder, { recursive: true }));

const still = defineTrainer({
  name: 'still',
  description: 'Learns nothing',
  options: {
    type: 'object',
    properties: { fails: { type: 'boolean', default: false, description: 'at once' } },
  },
  defaults: { tasksPerStep: 2, groupSize: 2, maxTokens: 4, evaluationEpisodes: 2 },
  create: ({ options: { fails } }) => ({
    async update() {
      if (fails) throw new Error('broken');
      return { loss: 1, spoilt: Number.NaN };
    },
  }),
});

class Table extends TablePolicy implements TrainablePolicy {
  readonly learner = new TableLearner();
}

type Given = Partial<RunOptions> & { fails?: boolean; resume?: boolean; signal?: AbortSignal };

function run(reportTo: readonly MetricSink[], given: Given = {}): AsyncGenerator<TrainEvent> {
  return train({ env: openLadder(), policy: new Table(), trainer: still, out, steps: 2, ...given, reportTo });
}

async function finish(events: AsyncIterable<TrainEvent>): Promise<void> {
  for await (const _ of events) {
    // Only the end matters.
  }
}

test('a key in an option reaches neither a sink nor the folder, and does not keep a run from resuming', async () => {
  const key = registerSecret('sk-of-an-option');
  const sink = new RecordingSink();
  const keyed = (more: object) => {
    const identity = { policyOptions: { headers: `Bearer ${key}` } };
    return train({
      env: openLadder(),
      policy: new Table(),
      trainer: still,
      out,
      ...more,
      identity,
      reportTo: [sink],
    });
  };
  await finish(keyed({ steps: 1 }));
  await finish(keyed({ steps: 2, resume: true }));
  expect(sink.runs.map(({ config }) => config.policyOptions)).toEqual(
    Array(2).fill({ headers: 'Bearer [redacted]' }),
  );
  for (const name of ['config.json', 'changes.jsonl'])
    expect(await readFile(join(out, name), 'utf8')).not.toContain(key);
  expect(await readFile(join(out, 'config.json'), 'utf8')).toContain('Bearer [redacted]');
});

test('a sink gets the run, and the metrics under names that do not collide', async () => {
  const sink = new RecordingSink();
  await finish(run([sink], { evaluateEvery: 2 }));
  expect(sink.runs).toEqual([
    {
      name: 'still on ladder-v1, seed 1',
      folder: out,
      config: expect.objectContaining({ trainer: 'still' }),
    },
  ]);
  expect(sink.events.map(({ step }) => step)).toEqual([1, 1, 2, 2, 2]);
  const lines = await readMetrics(out);
  const [rollout, update, , , evaluation] = sink.events.map(({ metrics }) => metrics);
  expect(rollout!['rollout/reward']).toBe(lines[0]!.metrics.reward);
  expect(rollout!['num_turns/mean']).toBe(lines[0]!.metrics['num_turns/mean']);
  expect(update!['update/loss']).toBe(1);
  expect(update).not.toHaveProperty('update/spoilt');
  expect(Object.keys(evaluation!).filter((name) => !name.startsWith('evaluation/'))).toEqual([]);
  expect(evaluation!['evaluation/reward']).toBe(lines[4]!.metrics.reward);
  expect(sink.ends).toEqual(['finished']);
  // Nothing of an episode but numbers.
  expect(await readFile(join(out, 'trajectories.jsonl'), 'utf8')).toContain('Climb to ');
  expect(JSON.stringify([sink.runs, sink.events])).not.toContain('Climb to ');
});

test('a resumed run continues the remote runs', async () => {
  const [first, second] = [new RecordingSink('a'), new RecordingSink('b')];
  await finish(run([first, second], { steps: 1 }));
  expect(JSON.parse(await readFile(join(out, 'reports.json'), 'utf8'))).toEqual({ a: 'a-1', b: 'b-1' });
  const [again, other] = [new RecordingSink('a'), new RecordingSink('c')];
  await finish(run([again, other], { resume: true }));
  expect(again.runs[0]!.id).toBe('a-1');
  expect(other.runs[0]).not.toHaveProperty('id');
  expect(again.events.map(({ step }) => step)).toEqual([2, 2]);
  await writeFile(join(out, 'reports.json'), '{');
  const last = new RecordingSink('a');
  await finish(run([last], { resume: true, steps: 3 }));
  expect(last.runs[0]).not.toHaveProperty('id');
});

test('an end says how the run ended', async () => {
  const [failed, killed, left] = [new RecordingSink(), new RecordingSink(), new RecordingSink()];
  await expect(finish(run([failed], { fails: true }))).rejects.toThrow('broken');
  expect(failed.ends).toEqual(['failed']);
  const stop = new AbortController();
  out = join(folder, 'killed');
  const interrupted = (async () => {
    for await (const _ of run([killed], { signal: stop.signal })) stop.abort(new Error('Ctrl-C'));
  })();
  await expect(interrupted).rejects.toThrow('Ctrl-C');
  expect(killed.ends).toEqual(['killed']);
  out = join(folder, 'left');
  for await (const _ of run([left])) break;
  expect(left.ends).toEqual(['killed']);
});

test('sinks that fail or hang change neither the run nor its files', async () => {
  const [broken, slow, good] = [
    new RecordingSink('broken', 500),
    new RecordingSink('slow', 500),
    new RecordingSink('good'),
  ];
  broken.trouble = () => {
    throw new Error('no network');
  };
  slow.trouble = (call) => (call === 'write' ? new Promise(() => {}) : undefined);
  const warnings = await warningsOf(() => finish(run([broken, slow, good])));
  expect(good.events).toHaveLength(4);
  expect((await readMetrics(out)).map(({ type, step }) => `${type} ${step}`)).toEqual([
    'rollout 1',
    'update 1',
    'rollout 2',
    'update 2',
  ]);
  expect(warnings.filter((warning) => warning.includes('broken')).length).toBeGreaterThan(0);
  expect(warnings.filter((warning) => warning.includes('slow'))).toEqual([
    'slow did not get the metrics of 4 events; metrics.jsonl has them.',
  ]);
}, 60_000);

test('a run that does not begin leaves its folder as it was', async () => {
  const sink = new RecordingSink();
  const env = openLadder(() => {
    throw new Error('no environment');
  });
  await expect(
    finish(train({ env, policy: new Table(), trainer: still, out, reportTo: [sink] })),
  ).rejects.toThrow('no environment');
  expect(sink.runs).toEqual([]);
  expect(existsSync(join(out, 'reports.json'))).toBe(false);
});

test('unknown names and two sinks of one name are refused before the run', async () => {
  const start = (reportTo: unknown) =>
    run(reportTo as never)
      [Symbol.asyncIterator]()
      .next();
  await expect(start(['mlfow'])).rejects.toMatchObject({
    code: 'usage.report',
    message: expect.stringContaining('mlflow'),
  });
  await expect(start([{}])).rejects.toMatchObject({ code: 'usage.report' });
  await expect(start([new RecordingSink(), new RecordingSink()])).rejects.toMatchObject({
    code: 'usage.report',
  });
  expect(existsSync(out)).toBe(false);
});
