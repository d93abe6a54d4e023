/** A sink that fails, hangs or is slow: the run goes on, and what can still arrive arrives in order. */
import { ToolEnvError } from '@toolenv/core';
import { registerSecret } from '@toolenv/core/secrets';
import { expect, test } from 'vitest';
import { SinkQueue, type SinkTimes } from '../../src/reports/sink-queue.ts';
import { RecordingSink, warningsOf } from './recording-sink.ts';

const run = { name: 'grpo on ladder-v1, seed 1', folder: 'runs/mine', config: {} };
const soon: Partial<SinkTimes> = { call: 5000, firstDelay: 5, longestDelay: 20, end: 5000 };
const event = (step: number) => ({ step, time: 0, metrics: { 'rollout/reward': step } });

function queueOf(sink: RecordingSink, times: Partial<SinkTimes> = soon) {
  const ids: string[] = [];
  const queue = new SinkQueue(sink, run, async (id) => void ids.push(id), times);
  return { queue, ids };
}

const steps = (sink: RecordingSink) => sink.events.map(({ step }) => step);

test('passes everything on in order, and the end', async () => {
  const sink = new RecordingSink();
  const { queue, ids } = queueOf(sink);
  for (let step = 1; step <= 250; step++) queue.push(event(step));
  expect(sink.events).toEqual([]);
  await queue.close('finished');
  expect(steps(sink)).toEqual(Array.from({ length: 250 }, (_, i) => i + 1));
  expect([ids, sink.runs, sink.ends]).toEqual([['recording-1'], [run], ['finished']]);
});

test('a sink that was never needed is never opened', async () => {
  const sink = new RecordingSink();
  const { queue } = queueOf(sink);
  await queue.close('failed');
  expect([sink.runs, sink.ends]).toEqual([[], []]);
});

test('tries again after faults, loses nothing and warns once', async () => {
  const sink = new RecordingSink();
  let calls = 0;
  sink.trouble = (call) => {
    calls += 1;
    if (call !== 'close' && calls % 3 !== 0) throw new TypeError('fetch failed');
  };
  const { queue } = queueOf(sink);
  const warnings = await warningsOf(async () => {
    for (let step = 1; step <= 150; step++) queue.push(event(step));
    await queue.close('finished');
  });
  expect(steps(sink)).toEqual(Array.from({ length: 150 }, (_, i) => i + 1));
  expect(warnings).toEqual(['Reporting to recording failed: fetch failed. The run continues and retries.']);
});

test('a sink that hangs costs the end of the run its time limit, and no more', async () => {
  const sink = new RecordingSink();
  sink.trouble = () => new Promise(() => {});
  const { queue } = queueOf(sink, { ...soon, end: 200 });
  const warnings = await warningsOf(async () => {
    queue.push(event(1));
    const started = performance.now();
    await queue.close('killed');
    expect(performance.now() - started).toBeLessThan(5000);
  });
  expect(warnings).toEqual(['recording did not get the metrics of 1 events; metrics.jsonl has them.']);
});

test('a call that takes too long is given up and repeated', async () => {
  const sink = new RecordingSink();
  let hangs = 2;
  sink.trouble = () => (hangs-- > 0 ? new Promise(() => {}) : undefined);
  const { queue } = queueOf(sink, { ...soon, call: 50 });
  const warnings = await warningsOf(async () => {
    queue.push(event(1));
    await queue.close('finished');
  });
  expect(steps(sink)).toEqual([1]);
  expect(warnings).toEqual([expect.stringContaining('it did not answer within 0.05 s')]);
});

test('a sink that cannot work is left out', async () => {
  const key = registerSecret('sk-of-a-tracker');
  const sink = new RecordingSink();
  let calls = 0;
  sink.trouble = (call) => {
    calls += call === 'open' ? 1 : 0;
    if (call === 'open') throw new ToolEnvError('usage.report', `There is no\u001b[2J API key ${key}.`);
  };
  const { queue } = queueOf(sink);
  const warnings = await warningsOf(async () => {
    queue.push(event(1));
    await new Promise((resolve) => setTimeout(resolve, 50));
    queue.push(event(2));
    await queue.close('finished');
  });
  expect(calls).toBe(1);
  expect(warnings).toEqual([
    'Reporting to recording failed: There is no [2J API key [redacted]. The sink is left out.',
  ]);
});

test('keeps the newest events if a sink is away for long', async () => {
  const sink = new RecordingSink();
  let isAway = true;
  sink.trouble = () => {
    if (isAway) throw new Error('away');
  };
  const { queue } = queueOf(sink);
  const warnings = await warningsOf(async () => {
    for (let step = 1; step <= 10_005; step++) queue.push(event(step));
    isAway = false;
    await queue.close('finished');
  });
  expect(sink.events).toHaveLength(10_000);
  expect(sink.events[0]!.step).toBe(6);
  expect(warnings.at(-1)).toBe('recording did not get the metrics of 5 events; metrics.jsonl has them.');
});
