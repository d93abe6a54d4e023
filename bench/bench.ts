/** `npm run bench -- <name>`: tokens per second of this library and of PyTorch, by turns on the same machine. */
import { availableParallelism } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import type { Benchmark } from './benchmark.ts';
import { busyShare } from './machine.ts';
import { startPeer } from './peer.ts';
import { findPython } from './python.ts';
import { rollout } from './rollout.ts';
import { train } from './train.ts';

const benchmarks: Record<string, Benchmark> = { train, rollout };
const names = Object.keys(benchmarks).join(', ');
const rounds = 15;

const help = `Usage: npm run bench -- <name>

Names: ${names}

Prints one JSON line: {name, ours, peer, ratio, unit, shape, ...}. ours and peer are medians of ${rounds} rounds run by turns
with equal numbers of threads. The peer is PyTorch with transformers, on the Python that TOOLENV_PYTHON names, else
.venv/bin/python (npm run interop makes it), else python3; without it, peer and ratio are null.`;

const [name, ...rest] = process.argv.slice(2);
if (name === '--help' || name === '-h') {
  console.log(help);
} else if (name === undefined || rest.length > 0 || !Object.hasOwn(benchmarks, name)) {
  console.error(
    `${name === undefined ? 'Name a benchmark' : `No benchmark "${[name, ...rest].join(' ')}"`}: one of ${names}.`,
  );
  process.exitCode = 2;
} else {
  console.log(JSON.stringify(await measure(name, benchmarks[name]!)));
}

async function measure(name: string, benchmark: Benchmark): Promise<Record<string, unknown>> {
  const threads = availableParallelism();
  const python = findPython();
  if (!python)
    console.error('No Python with torch and transformers: only this library is measured (see --help).');
  const peer = python === undefined ? undefined : await startPeer(python, benchmark, threads);
  const work = await benchmark.prepare(threads);
  const busyBefore = await busyShare();
  const rates = { ours: [] as number[], peer: [] as number[] };
  for (let round = 0; round < rounds; round++) {
    const start = performance.now();
    await work.round();
    rates.ours.push(work.tokens / ((performance.now() - start) / 1000));
    if (!peer) continue;
    // Threads of a pool spin for a moment after their work.
    await delay(200);
    const before = process.cpuUsage();
    const seconds = await peer.round();
    const { user, system } = process.cpuUsage(before);
    rates.peer.push(work.tokens / seconds);
    if ((user + system) / 1e6 > 0.05 * seconds)
      console.error('This process was not idle while the peer ran: do not trust the ratio.');
    await delay(200);
  }
  await peer?.close();
  await work.close();
  const busy = Math.max(busyBefore, await busyShare());
  if (busy > 0.1) {
    const share = `${Math.round(100 * busy)} % of the machine was busy with other work`;
    console.error(
      `${share}, which slows the two sides unequally: do not trust the ratio, and run again when it is idle.`,
    );
  }
  const ours = median(rates.ours);
  const theirs = peer ? median(rates.peer) : null;
  return {
    name,
    ours: Math.round(ours),
    peer: theirs === null ? null : Math.round(theirs),
    ratio: theirs === null ? null : Number((ours / theirs).toFixed(3)),
    unit: 'tokens/s',
    shape: benchmark.shape,
    threads,
    otherWork: Number(busy.toFixed(2)),
    rounds: { ours: rates.ours.map(Math.round), peer: rates.peer.map(Math.round) },
    versions: { node: process.version, ...peer?.versions },
  };
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}
