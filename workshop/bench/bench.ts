/** `npm run bench -- <name>`: this library and its peers in Python, by turns on the same machine. */
import { parseArgs } from 'node:util';
import { ToolEnvError } from '@toolenv/core';
import { type Device, devices } from '@toolenv/policy';
import { measureAsync } from './async.ts';
import { measureEnv } from './env.ts';
import { measureGpu } from './gpu.ts';
import { measureModel } from './measure-model.ts';
import { sizes } from './model.ts';

interface Asked {
  size?: string;
  device?: Device;
}

const benchmarks: Record<string, (asked: Asked, rounds: number) => Promise<Record<string, unknown>>> = {
  train: ({ size = '1m', device }, rounds) => measureModel('train', size, { rounds, device }),
  rollout: ({ size = '1m', device }, rounds) => measureModel('rollout', size, { rounds, device }),
  gpu: measureGpu,
  env: measureEnv,
  async: measureAsync,
};
const names = Object.keys(benchmarks).join(', ');

const help = `Usage: npm run bench -- <name> [--size ${Object.keys(sizes).join('|')}] [--rounds <number>] [--device <name>]

Names: ${names}

Prints one JSON line. The peers run on the Python that TOOLENV_PYTHON names, else .venv/bin/python (npm run interop makes it),
else python3.

train and rollout: {name, size, ours, peer, ratio, unit, shape, ...} in tokens per second, for a model of so many parameters
(default 1m). ours and peer are medians of rounds (default 15) run by turns with equal numbers of threads. The peer is PyTorch
with transformers; without it, peer and ratio are null. peakMemory is that of each process in bytes. rollout also has latency: how
long one token and one turn take in the first five turns of growing conversations. --device (default cpu) is where ours runs: with
any other, the peer runs on the GPU as well.

gpu: {name, devices, gpu, results}: train and rollout at 100 and 500 million parameters, or of --size, on --device, by default each
of CUDA, Core ML, DirectML and WebGPU that multiplies faster here than the CPU.

env: {name, ours: {call, text}, peers, notInstalled, unit, shape, ...} in microseconds per step of a trivial environment, over
100,000 steps that call a tool and 100,000 that say a text. The peers are Gymnasium, OpenEnv (openenv-core) and verifiers (below
0.2, whose environments step in process), each if it is installed; ratio is a peer's time over that of ours which is like it.

async: {name, withoutLatency, withLatency, ratio, ...}: the share of the time that GRPO's learner learns on the demo's task, where a
search takes 50 to 500 ms, by how many rollouts are played ahead (--max-staleness 0, 1, 2); ratio is that over the share without latency.`;

const { values, positionals } = parseArgs({
  options: {
    size: { type: 'string' },
    device: { type: 'string' },
    rounds: { type: 'string', default: '15' },
    help: { type: 'boolean', short: 'h', default: false },
  },
  allowPositionals: true,
});
const { size, device, rounds } = values;
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
else await measure(name, { size, device }, Number(rounds));

async function measure(name: string, asked: Asked, rounds: number): Promise<void> {
  try {
    console.log(JSON.stringify(await benchmarks[name]!(asked, rounds)));
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
