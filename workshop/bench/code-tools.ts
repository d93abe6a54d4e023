/** `npm run bench -- code`: what a call and an episode cost with the tools that run code. */
import { availableParallelism } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { createRng, type Tool } from '@toolenv/core';
import { createBash, createPython } from '@toolenv/tools-code';
import { busyShare, warnIfBusy } from './machine.ts';
import { median } from './median.ts';
import { usageWithChildren } from './usage-with-children.ts';

/** Milliseconds in which the pool is full again. */
const refill = 2_500;

interface Cost {
  /** Milliseconds of a call in a warm episode. */
  call: number;
  /** Milliseconds of the first call of an episode, from a pool that is full. */
  episode: number;
  /** Seconds of CPU of an episode, with the refill of its pool. */
  cpu: number;
  /** Bytes by which an open episode grows this process and those it has started. */
  memory: number;
}

export async function measureCodeTools(_choice: object, rounds: number): Promise<Record<string, unknown>> {
  const busyBefore = await busyShare();
  const python = await costOf(() => createPython(), { code: '1 + 1' }, rounds);
  const bash = await costOf(() => createBash({}), { command: 'true' }, rounds);
  const busy = Math.max(busyBefore, await busyShare());
  warnIfBusy(busy);
  return {
    name: 'code',
    unit: 'ms; cpu in s, memory in bytes',
    python,
    bash,
    threads: availableParallelism(),
    otherWork: Number(busy.toFixed(2)),
    rounds,
    versions: { node: process.version },
  };
}

async function costOf<Args>(make: () => Promise<Tool<Args>>, args: Args, rounds: number): Promise<Cost> {
  const tool = await make();
  let callIndex = 0;
  const call = async (episodeId: string) => {
    const signal = new AbortController().signal;
    const context = { episodeId, signal, rng: createRng(1, episodeId), callIndex: callIndex++ };
    const start = performance.now();
    await tool.execute(args, context);
    return performance.now() - start;
  };
  const calls: number[] = [];
  const episodes: number[] = [];
  const seconds: number[] = [];
  await call('warm-up');
  await delay(refill);
  const before = usageWithChildren();
  for (let round = 0; round < rounds; round++) {
    const start = usageWithChildren();
    episodes.push(await call(`episode ${round}`));
    await delay(refill);
    seconds.push(usageWithChildren().cpu - start.cpu);
    for (let count = 0; count < 20; count++) calls.push(await call(`episode ${round}`));
  }
  const memory = (usageWithChildren().memory - before.memory) / rounds;
  await tool.close?.();
  const rounded = (value: number) => Number(value.toFixed(2));
  return {
    call: rounded(median(calls)),
    episode: rounded(median(episodes)),
    cpu: rounded(median(seconds)),
    memory: Math.round(memory),
  };
}
