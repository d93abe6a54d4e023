import { expect, test, vi } from 'vitest';
import { BusyClock } from '../../src/reports/timed-learner.ts';

test('counts the time in which any call runs, once', async () => {
  vi.useFakeTimers({ toFake: ['performance', 'setTimeout'] });
  const clock = new BusyClock();
  const wait = (milliseconds: number) => () =>
    new Promise<void>((resolve) => void setTimeout(resolve, milliseconds));
  const failing = clock.time(async () => {
    await wait(1000)();
    throw new Error('broken');
  });
  const both = Promise.all([
    clock.time(wait(2000)),
    clock.time(wait(3000)),
    expect(failing).rejects.toThrow('broken'),
  ]);
  await vi.advanceTimersByTimeAsync(10_000);
  await both;
  expect(clock.seconds).toBe(3);
  expect(await clock.time(async () => 'result')).toBe('result');
  expect(clock.take()).toBe(3);
  expect(clock.seconds).toBe(0);
  vi.useRealTimers();
});
