/** `npm run bench -- <name>`: this library and its peers in Python, by turns on the same machine. */
import { availableParallelism } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { measureAsync } from './async.ts';
import type { Benchmark } from './benchmark.ts';
import { measureEnv } from './env.ts';
import { busyShare } from './machine.ts';
import { median } from './median.ts';
import { sizes } from './model.ts';
import { startPeer } from './peer.ts';
import { findPython } from './python.ts';
import { rollout } from './rollout.ts';
import { train } from './train.ts';

const benchmarks: Record<string, (size: string, rounds: number) => Promise<Record<string, unknown>>> = {
  train: (size, rounds) => measure('train', size, train(sizes[size]!), rounds),
  rollout: (size, rounds) => measure('rollout', size, rollout(sizes[size]!), rounds),
  env: measureEnv,
  async: measureAsync,
};
const names = Object.keys(benchmarks).join(', ');

const help = `Usage: npm run bench -- <name> [--size ${Object.keys(sizes).join('|')}] [--rounds <number>]

Names: ${names}

Prints one JSON line. The peers run on the Python that TOOLENV_PYTHON names, else .venv/bin/python (npm run interop makes it),
else python3.

train and rollout: {name, size, ours, peer, ratio, unit, shape, ...} in tokens per second, for a model of so many parameters
(default 1m). ours and peer are medians of rounds (default 15) run by turns with equal numbers of threads. The peer is PyTorch
with transformers; without it, peer and ratio are null. peakMemory is that of each process in bytes. rollout also has latency: how long one token and one turn take in the
first five turns of growing conversations.

env: {name, ours: {call, text}, peers, notInstalled, unit, shape, ...} in microseconds per step of a trivial environment, over
100,000 steps that call a tool and 100,000 that say a text. The peers are Gymnasium, OpenEnv (openenv-core) and verifiers (below
0.2, whose environments step in process), each if it is installed; ratio is a peer's time over that of ours which is like it.

async: {name, withoutLatency, withLatency, ratio, ...}: the share of the time that GRPO's learner learns on the demo's task, where a
search takes 50 to 500 ms, by how many rollouts are played ahead (--staleness 0, 1, 2); ratio is that over the share without latency.`;

const { values, positionals } = parseArgs({
  options: {
    size: { type: 'string', default: '1m' },
    rounds: { type: 'string', default: '15' },
    help: { type: 'boolean', short: 'h', default: false },
  },
  allowPositionals: true,
});
const { size, rounds } = values;
const [name] = positionals;
if (values.help) console.log(help);
else if (name === undefined) refuse(`Name a benchmark: one of ${names}.`);
else if (positionals.length > 1 || !Object.hasOwn(benchmarks, name))
  refuse(`No benchmark "${positionals.join(' ')}": one of ${names}.`);
else if (!Object.hasOwn(sizes, size)) refuse(`No size "${size}": one of ${Object.keys(sizes).join(', ')}.`);
else if (!/^[1-9]\d*$/.test(rounds)) refuse(`--rounds is "${rounds}": give a whole number of at least 1.`);
else console.log(JSON.stringify(await benchmarks[name]!(size, Number(rounds))));

function refuse(why: string): void {
  console.error(why);
  process.exitCode = 2;
}

async function measure(
  name: string,
  size: string,
  benchmark: Benchmark,
  rounds: number,
): Promise<Record<string, unknown>> {
  const threads = availableParallelism();
  const python = findPython(['torch', 'transformers']);
  if (!python)
    console.error('No Python with torch and transformers: only this library is measured (see --help).');
  const peer = python === undefined ? undefined : await startPeer(python, benchmark, threads);
  const work = await benchmark.prepare(threads);
  const busyBefore = await busyShare();
  let peerPeak: number | null = null;
  const rates = { ours: [] as number[], peer: [] as number[] };
  for (let round = 0; round < rounds; round++) {
    const start = performance.now();
    await work.round();
    rates.ours.push(work.tokens / ((performance.now() - start) / 1000));
    if (!peer) continue;
    // Threads of a pool spin for a moment after their work.
    await delay(200);
    const before = process.cpuUsage();
    const { seconds, peakMemory } = await peer.round();
    peerPeak = peakMemory;
    const { user, system } = process.cpuUsage(before);
    rates.peer.push(work.tokens / seconds);
    if ((user + system) / 1e6 > 0.05 * seconds)
      console.error('This process was not idle while the peer ran: do not trust the ratio.');
    await delay(200);
  }
  await peer?.close();
  const ownPeak = 1024 * process.resourceUsage().maxRSS;
  const details = await work.details?.();
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
    size,
    ours: Math.round(ours),
    peer: theirs === null ? null : Math.round(theirs),
    ratio: theirs === null ? null : Number((ours / theirs).toFixed(3)),
    unit: 'tokens/s',
    shape: benchmark.shape,
    ...details,
    // Of each whole process, in bytes; ours is this one, which also runs the benchmark.
    peakMemory: { ours: ownPeak, peer: peerPeak },
    threads,
    otherWork: Number(busy.toFixed(2)),
    rounds: { ours: rates.ours.map(Math.round), peer: rates.peer.map(Math.round) },
    versions: { node: process.version, ...peer?.versions },
  };
}
