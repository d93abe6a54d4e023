/** `npm run bench -- <name>`: measures this library and its peers in Python, in turns on the same machine. */
import { parseArgs } from 'node:util';
import { ToolEnvError } from '@toolenv/core';
import { type Device, devices } from '@toolenv/policy';
import { measureCost } from './cost.ts';
import { measureDraw } from './draw.ts';
import { measureGpu } from './gpu.ts';
import { measureGrpoTools } from './grpo-tools.ts';
import { measureModel } from './measure-model.ts';
import { measureMemory } from './memory.ts';
import { sizes } from './model.ts';
import { record } from './record.ts';
import { measureSlowTools } from './slow-tools.ts';
import { measureSmolLm2 } from './smollm2.ts';

interface Choice {
  size?: string;
  task?: string;
  policy?: string;
  results?: string;
  device?: Device;
  runtime?: string;
  precision?: 'float32' | 'bfloat16';
}

const benchmarks: Record<string, (choice: Choice, rounds: number) => Promise<Record<string, unknown>>> = {
  train: ({ size = '1m', ...choice }, rounds) => measureModel('train', size, { rounds, ...choice }),
  group: ({ size = '1m', ...choice }, rounds) => measureModel('group', size, { rounds, ...choice }),
  lora: ({ size = '500m', ...choice }, rounds) => measureModel('lora', size, { rounds, ...choice }),
  rollout: ({ size = '1m', ...choice }, rounds) => measureModel('rollout', size, { rounds, ...choice }),
  first: ({ size = '500m', ...choice }, rounds) => measureModel('first', size, { rounds, ...choice }),
  grpo: ({ size = '1m', ...choice }, rounds) => measureModel('grpo', size, { rounds, ...choice }),
  'grpo-tools': ({ size: _, ...choice }, rounds) => measureGrpoTools({ rounds, ...choice }),
  cost: measureCost,
  tools: measureSlowTools,
  draw: measureDraw,
  gpu: measureGpu,
  smollm2: measureSmolLm2,
  // These need packages that a machine with a GPU may lack.
  env: async () => (await import('./env.ts')).measureEnv(),
  gateway: async () => (await import('./gateway.ts')).measureGateway(),
  code: async (...given) => (await import('./code-tools.ts')).measureCodeTools(...given),
  memory: measureMemory,
  record,
};
const names = Object.keys(benchmarks).join(', ');

const help = `Usage: npm run bench -- <name> [--size ${Object.keys(sizes).join('|')}] [--rounds <number>] [--device <name>] [--runtime onnx|libtorch]
                               [--task <name>] [--policy <folder>] [--results <file>] [--precision float32|bfloat16]

Names: ${names}

Prints one JSON line. The peers run on the Python that TOOLENV_PYTHON names, on .venv/bin/python (npm run interop makes it), or on
python3.

train, group, lora, rollout and first: {name, size, ours, peer, ratio, unit, shape, ...} in tokens per second, for a model with --size parameters
(default 1m, for lora and first 500m). ours and peer are medians over --rounds (default 15), measured in turns with the same number of threads. The peer is
PyTorch with transformers. Without the peer, peer and ratio are null. peakMemory is the peak memory of each process in bytes. group is a step on
8 episodes with one prompt of 300 tokens and answers of 20; withoutSharing is ours where each has a prompt of its own. lora trains adapters on 4 rows of 256 tokens; its peer needs peft too. rollout also has
step: the milliseconds of one token of each conversation, with weights in float32 and in int8, and, for small models, latency: the time of one token
and of one turn in the first five turns of growing conversations. first is the tokens of 8 prompts of 64 tokens per second, until the first token after
each, by a new sampler. --device (default cpu) is
the device of this library. With a device other than the CPU, the peer runs on the GPU. --runtime libtorch gives ours
the peer's libtorch. --precision bfloat16 then rounds the products of both; the peer uses autocast.

grpo: as these, in generated tokens per second of whole steps: 8 groups of 8 answers, each of 64 tokens at temperature 1 to a prompt of some 60, then an
update with GRPO's loss and AdamW. Neither side has tools, a KL penalty or an end token. ours is train() with trainer-grpo, which plays the
episodes in an environment. The peer is TRL's GRPOTrainer with generate of transformers; it needs trl and datasets too. The vocabulary is the tiny policy's.

grpo-tools: as grpo, in episodes per second: 8 groups of 8 episodes of arithmetic-v1 with its calculator, and adapters of rank 16. --policy is a
checkpoint that has learned to call it, by default that of \`npm run real-study -- --environments arithmetic --rows Supervised\`. The peer plays the same
environment over OpenEnv's protocol; it needs peft and openenv, too. generatedTokens and learnedTokens are those of
this library, which leaves out groups without variance. The peer computes their update, too.

cost: {name, size, results}: seconds and peak memory of a step: an optimizer step by context (about 4,096 tokens in rows of 192 to 4,096), by group (1 to
16 answers of 20 tokens to one prompt of 300) and by parameters (16 rows of 192 tokens, up to 100 million), and a step of GRPO by episodes (16 to 128)
and by tools in the prompt (0 to 4). Each point has a process and a peer, as train, group and grpo have; --task context=2048 measures one. --results
<file.jsonl> keeps the points, goes on with those that are missing, and draws charts beside the file.

tools: {name, size, unit, shape, results}: median seconds of a rollout of 64 conversations whose tools take 0.3 s, a time with a long tail, or no
time. waits is a sampler that waits for all tools of a turn; goesOn does not. equalBits: whether both gave the same tokens and
log-probabilities. It has no peer.

draw: {name, ours, peer, worst, unit, shape, ...} in milliseconds per draw from a vocabulary of 151,936 tokens, for each truncation and shape of
the distribution. The peer has the logits processors of transformers.

gpu: {name, devices, gpu, results}: train and rollout at 100 and 500 million parameters, or at --size, on --device. Default: each of
CUDA, Core ML, DirectML and WebGPU that multiplies matrices faster than the CPU.

smollm2: {name, threads, otherWork, results, versions}: SmolLM2-135M-Instruct, which \`npm run real-model -- --short\` downloads. The sides are ours
on ONNX Runtime, with weights in float32 and int8, and on libtorch, transformers in float32, by autocast and with weights in bfloat16, and llama.cpp
(xllamacpp) with weights in float16 and in 4 bits. For 1, 8 and 16 conversations, firstToken is the milliseconds of a prompt of 256 tokens and one token,
and token those of each of 64 further tokens of all conversations. lora and all are training steps on 4 rows of 256 tokens, long those of all weights
on 16 rows of 192 and 1 row of 2,048, in tokens per second, long without ONNX Runtime. --task sample|lora|all|long measures one kind. Give few --rounds.

env: {name, ours: {call, text}, peers, library, notInstalled, unit, shape, ...} in microseconds per step of a trivial environment,
over 100,000 steps with a tool call and 100,000 steps with a text. library has the environments of the library, played by their
oracles. The peers are Gymnasium, OpenEnv (openenv-core) and verifiers (below 0.2, whose environments step in process). ratio is the
peer's time divided by our time of the same kind of step.

gateway: {name, ours, p99, unit, requests, history}: the time that a request of an agent costs this process, with a history of 16 KB. ours is the
median. The agent runs in a process of its own, and the policy answers at once. It has no peer.

code: {name, unit, python, bash}: milliseconds of a call (in a warm episode) and of an episode (its first call, from a full pool), seconds of CPU of an
episode with the refill of its pool, and bytes of an open episode, for python-v1 and bash-v1 with their defaults. Medians over --rounds. It has no peer.

memory: {name, size, unit, results}: the estimated and the measured peak memory of an optimizer step of a model of --size, at rows of 192
and of 2,048 tokens, with and without adapters and gradient checkpointing. ratio is the estimate divided by the peak. It has no peer.

record: what docs/benchmarks/README.md shows of CPUs but the costs, a line for each command in the file of --results. It goes on with the commands that the
file lacks. It takes two hours, and needs the machine for itself.`;

const { values, positionals } = parseArgs({
  options: {
    size: { type: 'string' },
    task: { type: 'string' },
    policy: { type: 'string' },
    results: { type: 'string' },
    device: { type: 'string' },
    runtime: { type: 'string', default: 'onnx' },
    precision: { type: 'string', default: 'float32' },
    rounds: { type: 'string', default: '15' },
    help: { type: 'boolean', short: 'h', default: false },
  },
  allowPositionals: true,
});
const { size, task, policy, results, device, runtime, precision, rounds } = values;
const [name] = positionals;
if (values.help) console.log(help);
else if (name === undefined) refuse(`Name a benchmark: one of ${names}.`);
else if (positionals.length > 1 || !Object.hasOwn(benchmarks, name))
  refuse(`No benchmark "${positionals.join(' ')}": one of ${names}.`);
else if (size !== undefined && !Object.hasOwn(sizes, size))
  refuse(`No size "${size}": one of ${Object.keys(sizes).join(', ')}.`);
else if (device !== undefined && !isDevice(device))
  refuse(`No device "${device}": one of ${devices.join(', ')}.`);
else if (!['onnx', 'libtorch'].includes(runtime)) refuse(`No runtime "${runtime}": onnx or libtorch.`);
else if (precision !== 'float32' && precision !== 'bfloat16')
  refuse(`No precision "${precision}": float32 or bfloat16.`);
else if (precision === 'bfloat16' && runtime !== 'libtorch') refuse('bfloat16 needs --runtime libtorch.');
else if (!/^[1-9]\d*$/.test(rounds)) refuse(`--rounds is "${rounds}": give a whole number of at least 1.`);
else await measure(name, { size, task, policy, results, device, runtime, precision }, Number(rounds));

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
