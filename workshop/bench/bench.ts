/** `npm run bench -- <name>`: measures this library and its peers in Python, in turns on the same machine. */
import { parseArgs } from 'node:util';
import { ToolEnvError } from '@toolenv/core';
import { type Device, devices } from '@toolenv/policy';
import { measureAsync } from './async.ts';
import { measureEnv } from './env.ts';
import { measureGpu } from './gpu.ts';
import { measureModel } from './measure-model.ts';
import { sizes } from './model.ts';
import { measureSearch } from './search.ts';
import { measureTokenise } from './tokenise.ts';

interface Choice {
  size?: string;
  device?: Device;
  /** Numbers of passages. */
  passages: number[];
  vectors: boolean;
}

const benchmarks: Record<string, (choice: Choice, rounds: number) => Promise<Record<string, unknown>>> = {
  train: ({ size = '1m', device }, rounds) => measureModel('train', size, { rounds, device }),
  rollout: ({ size = '1m', device }, rounds) => measureModel('rollout', size, { rounds, device }),
  gpu: measureGpu,
  env: measureEnv,
  async: measureAsync,
  search: ({ passages, vectors }) => measureSearch(passages, vectors),
  tokenise: (_, rounds) => measureTokenise(rounds),
};
const names = Object.keys(benchmarks).join(', ');

const help = `Usage: npm run bench -- <name> [--size ${Object.keys(sizes).join('|')}] [--rounds <number>] [--device <name>]
       npm run bench -- search [--passages <number,...>] [--no-vectors]

Names: ${names}

Prints one JSON line. The peers run on the Python named by TOOLENV_PYTHON, or .venv/bin/python (npm run interop makes it), or
python3.

train and rollout: {name, size, ours, peer, ratio, unit, shape, ...} in tokens per second, for a model with --size parameters
(default 1m). ours and peer are medians over --rounds (default 15), measured in turns with the same number of threads. The peer is
PyTorch with transformers. If it is not installed, peer and ratio are null. peakMemory is the peak of each process in bytes. rollout
also has latency: the time of one token and of one turn in the first five turns of growing conversations. --device (default cpu) is
the device of this library. With any other device than the CPU, the peer runs on the GPU.

gpu: {name, devices, gpu, results}: train and rollout at 100 and 500 million parameters, or at --size, on --device. Default: each of
CUDA, Core ML, DirectML and WebGPU that multiplies matrices faster than the CPU of this machine.

env: {name, ours: {call, text}, peers, library, notInstalled, unit, shape, ...} in microseconds per step of a trivial environment,
over 100,000 steps with a tool call and 100,000 steps with a text. library has the environments of the library, played by their oracles. The peers are Gymnasium, OpenEnv (openenv-core) and verifiers (below
0.2, whose environments step in process), if they are installed. ratio is the peer's time divided by the time of the same kind of step.

async: {name, withoutLatency, withLatency, ratio, ...}: the share of the time that GRPO's learner spends learning on the demo's task
with searches of 50 to 500 ms, by the number of rollouts played ahead (--max-staleness 0, 1, 2). ratio is that share divided by the
share without latency.

search: {name, shape, results, worlds}: for each number of --passages (default 10000,100000; the bar is 1000000) the time and the peak memory of
building an index, and the queries per second, p50 and p99 in milliseconds, peak memory and recall of top-5 searches of 64 callers, by
words, by vectors and by both. bm25s in Python, if it is installed, answers the same queries in one thread; agreement is the share of
its hits that the index finds too, and for vectors the share of the hits of an exact scan of all vectors. Vectors are random projections
of the words, from a loopback server; --no-vectors leaves them out. worlds has the recall of top-5 searches with the questions of the
synthetic worlds, by words, by vectors and by both. Files go to TOOLENV_BENCH_FOLDER or the temporary folder.

tokenise: {name, ours, peer, ratio, unit, shape, otherTokens, ...} in tokens per second, in one thread, medians over --rounds: the
documentation of the installed packages with a tokenizer like Qwen2's of 32,000 tokens. The peer is Hugging Face's tokenizers, which
trains the tokenizer first. otherTokens counts the texts whose tokens differ between the two.`;

const { values, positionals } = parseArgs({
  options: {
    size: { type: 'string' },
    device: { type: 'string' },
    rounds: { type: 'string', default: '15' },
    passages: { type: 'string', default: '10000,100000' },
    'no-vectors': { type: 'boolean', default: false },
    help: { type: 'boolean', short: 'h', default: false },
  },
  allowPositionals: true,
});
const { size, device, rounds } = values;
const passages = values.passages.split(',').map(Number);
const [name] = positionals;
if (values.help) console.log(help);
else if (name === undefined) refuse(`Name a benchmark: one of ${names}.`);
else if (positionals.length > 1 || !Object.hasOwn(benchmarks, name))
  refuse(`No benchmark "${positionals.join(' ')}": one of ${names}.`);
else if (size !== undefined && !Object.hasOwn(sizes, size))
  refuse(`No size "${size}": one of ${Object.keys(sizes).join(', ')}.`);
else if (device !== undefined && !isDevice(device))
  refuse(`No device "${device}": one of ${devices.join(', ')}.`);
else if (!/^[1-9]\d*$/.test(rounds)) refuse(`--rounds is "${rounds}": give a whole number of at least 1.`);
else if (!passages.every((count) => Number.isInteger(count) && count > 0))
  refuse(`--passages is "${values.passages}": give whole numbers of at least 1, with commas between.`);
else await measure(name, { size, device, passages, vectors: !values['no-vectors'] }, Number(rounds));

async function measure(name: string, choice: Choice, rounds: number): Promise<void> {
  try {
    console.log(JSON.stringify(await benchmarks[name]!(choice, rounds)));
  } catch (error) {
    if (!ToolEnvError.isInstance(error)) throw error;
    refuse(error.message);
  }
}

function isDevice(name: string): name is Device {
  return devices.some((device) => device === name);
}

function refuse(why: string): void {
  console.error(why);
  process.exitCode = 2;
}
