/** `npm run bench -- <name>`: this library and its peers in Python, by turns on the same machine. */
import { availableParallelism } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import type { Benchmark } from './benchmark.ts';
import { measureEnv } from './env.ts';
import { busyShare } from './machine.ts';
import { median } from './median.ts';
import { startPeer } from './peer.ts';
import { findPython } from './python.ts';
import { rollout } from './rollout.ts';
import { train } from './train.ts';

const rounds = 15;
const benchmarks: Record<string, () => Promise<Record<string, unknown>>> = {
  train: () => measure('train', train),
  rollout: () => measure('rollout', rollout),
  env: measureEnv,
};
const names = Object.keys(benchmarks).join(', ');

const help = `Usage: npm run bench -- <name>

Names: ${names}

Prints one JSON line. The peers run on the Python that TOOLENV_PYTHON names, else .venv/bin/python (npm run interop makes it),
else python3.

train and rollout: {name, ours, peer, ratio, unit, shape, ...} in tokens per second. ours and peer are medians of ${rounds} rounds
run by turns with equal numbers of threads. The peer is PyTorch with transformers; without it, peer and ratio are null.

env: {name, ours: {call, text}, peers, notInstalled, unit, shape, ...} in microseconds per step of a trivial environment, over
100,000 steps that call a tool and 100,000 that say a text. The peers are Gymnasium, OpenEnv (openenv-core) and verifiers (below
0.2, whose environments step in process), each if it is installed; ratio is a peer's time over that of ours which is like it.`;

const [name, ...rest] = process.argv.slice(2);
if (name === '--help' || name === '-h') {
  console.log(help);
} else if (name === undefined || rest.length > 0 || !Object.hasOwn(benchmarks, name)) {
  console.error(
    `${name === undefined ? 'Name a benchmark' : `No benchmark "${[name, ...rest].join(' ')}"`}: one of ${names}.`,
  );
  process.exitCode = 2;
} else {
  console.log(JSON.stringify(await benchmarks[name]!()));
}

async function measure(name: string, benchmark: Benchmark): Promise<Record<string, unknown>> {
  const threads = availableParallelism();
  const python = findPython(['torch', 'transformers']);
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
