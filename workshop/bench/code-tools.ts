/** `npm run bench -- code`: what a call and an episode cost with the tools that run code. */

import { readdirSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { createRng, type Tool } from '@toolenv/core';
import { createBash, createPython } from '@toolenv/tools-code';
import { busyShare, warnIfBusy } from './machine.ts';
import { median } from './median.ts';

/** `cpu` in seconds since the start, `memory` in bytes. */
function usageWithChildren(): { cpu: number; memory: number } {
  const { user, system } = process.cpuUsage();
  const own = { cpu: (user + system) / 1e6, memory: process.memoryUsage.rss() };
  return children().reduce((all, pid) => {
    const [utime, stime] = textOf(`/proc/${pid}/stat`).split(') ').at(-1)!.split(' ').slice(11, 13);
    // Pages that processes share, such as Node itself, count in part.
    const [, kilobytes] = /^Pss: +(\d+)/m.exec(textOf(`/proc/${pid}/smaps_rollup`)) ?? [];
    return {
      cpu: all.cpu + (Number(utime ?? 0) + Number(stime ?? 0)) / 100,
      memory: all.memory + Number(kilobytes ?? 0) * 1024,
    };
  }, own);
}

function children(): string[] {
  if (process.platform !== 'linux') return [];
  return readdirSync('/proc/self/task').flatMap((task) =>
    textOf(`/proc/self/task/${task}/children`).split(' ').filter(Boolean),
  );
}

/** Empty if there is no such process any more. */
function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

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
