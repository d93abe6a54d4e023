/** Measures training or rollout of a model, in this library and in the peer. */
import { availableParallelism } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import type { LibtorchRuntime } from '@toolenv/libtorch';
import { type Device, type ModelConfig, onnxRuntime, type Runtime } from '@toolenv/policy';
import type { Benchmark } from './benchmark.ts';
import { group } from './group.ts';
import { grpo } from './grpo.ts';
import { lora } from './lora.ts';
import { busyShare, warnIfBusy } from './machine.ts';
import { median } from './median.ts';
import { sizes } from './model.ts';
import { startPeer } from './peer.ts';
import { findPython } from './python.ts';
import { first, rollout } from './rollout.ts';
import { train } from './train.ts';

const benchmarks: Record<string, (config: ModelConfig) => Benchmark | Promise<Benchmark>> = {
  train,
  group,
  lora,
  rollout,
  first,
  grpo,
};

/** What a peer needs besides torch and transformers. */
const furtherModules: Record<string, string[]> = { lora: ['peft'], grpo: ['trl', 'datasets'] };

/** How this library computes, and how often both sides are measured. The peer has the precision too. */
export interface ModelChoice {
  rounds: number;
  device?: Device;
  runtime?: string;
  precision?: 'float32' | 'bfloat16';
}

/** Measures training or rollout of a model of the given size, by the name of the benchmark. */
export async function measureModel(
  name: string,
  size: string,
  choice: ModelChoice,
): Promise<Record<string, unknown>> {
  const modules = furtherModules[name] ?? [];
  const benchmark = await benchmarks[name]!(sizes[size]!);
  return { name, size, ...(await measureBenchmark(benchmark, { ...choice, modules })) };
}

/**
 * Tokens per second of both sides: medians over `rounds`, measured in turns.
 * @param choice `device` is that of this library; the peer runs on the CPU or on a GPU accordingly. `modules` are what the peer needs
 * besides torch and transformers.
 */
export async function measureBenchmark(
  benchmark: Benchmark,
  {
    rounds,
    device = 'cpu',
    runtime = 'onnx',
    modules = [],
    precision = 'float32',
  }: ModelChoice & { modules?: string[] },
): Promise<Record<string, unknown>> {
  const threads = availableParallelism();
  const needed = ['torch', 'transformers', ...modules];
  const python = findPython(needed);
  if (!python)
    console.error(`No Python with ${needed.join(', ')} found: only this library is measured (see --help).`);
  const peer =
    python === undefined
      ? undefined
      : await startPeer(python, benchmark, {
          threads,
          precision,
          device: device === 'cpu' ? 'cpu' : 'gpu',
        }).catch((error: Error) => {
          // PyTorch may be installed without GPU support. Measure this library all the same.
          if (device === 'cpu') throw error;
          console.error(`${error.message} Only this library is measured.`);
        });
  const own: Runtime =
    runtime === 'libtorch'
      ? await (await import('@toolenv/libtorch')).libtorchRuntime({ threads, precision })
      : onnxRuntime({ threads, device });
  const work = await benchmark.prepare(own);
  const busyBefore = await busyShare();
  let peerPeak: number | null = null;
  const peerRates: number[] = [];
  const ways = { ours: () => work.round(), ...work.beside };
  const rates: Record<string, number[]> = Object.fromEntries(Object.keys(ways).map((way) => [way, []]));
  for (let round = 0; round < rounds; round++) {
    for (const [way, run] of Object.entries(ways)) {
      const start = performance.now();
      await run();
      rates[way]!.push(work.tokens / ((performance.now() - start) / 1000));
    }
    if (!peer) continue;
    // Threads of a pool spin for a moment after they finish.
    await delay(200);
    const before = process.cpuUsage();
    const { seconds, peakMemory } = await peer.round();
    peerPeak = peakMemory;
    const { user, system } = process.cpuUsage(before);
    peerRates.push(work.tokens / seconds);
    if ((user + system) / 1e6 > 0.05 * seconds)
      console.error('This process was not idle while the peer ran: do not trust the ratio.');
    await delay(200);
  }
  await peer?.close();
  const ofEngine = (await (own as Partial<LibtorchRuntime>).peakMemory?.()) ?? 0;
  const ownPeak = 1024 * process.resourceUsage().maxRSS + ofEngine;
  const details = await work.details?.();
  await work.close();
  await own.close?.();
  const busy = Math.max(busyBefore, await busyShare());
  warnIfBusy(busy);
  const medians = Object.fromEntries(Object.entries(rates).map(([way, each]) => [way, median(each)]));
  const theirs = peer ? median(peerRates) : null;
  const { ours, ...beside } = medians as Record<string, number> & { ours: number };
  return {
    device,
    ...(runtime === 'libtorch' && { runtime, precision }),
    ours: rounded(ours),
    ...Object.fromEntries(Object.entries(beside).map(([way, rate]) => [way, rounded(rate)])),
    peer: theirs === null ? null : rounded(theirs),
    ratio: theirs === null ? null : Number((ours / theirs).toFixed(3)),
    unit: `${benchmark.unit ?? 'tokens'}/s`,
    shape: benchmark.shape,
    perRound: work.tokens,
    ...details,
    // Bytes of each whole process; ours is this process, which also runs the benchmark, and the engine's.
    peakMemory: { ours: ownPeak, peer: peerPeak },
    threads,
    otherWork: Number(busy.toFixed(2)),
    rounds: Object.fromEntries(
      Object.entries({ ...rates, peer: peerRates }).map(([side, each]) => [side, each.map(rounded)]),
    ),
    versions: { node: process.version, ...peer?.versions },
  };
}

/** Rates of fewer than 100 a second keep three digits. */
function rounded(rate: number): number {
  return rate < 100 ? Number(rate.toPrecision(3)) : Math.round(rate);
}
