/**
 * `npm run devices -- webgpu`, or `libtorch` or `libtorch-bfloat16` for the kernels of this machine's PyTorch, checks that a device computes
 * the same numbers as the CPU: every operation and its gradients, then a small model's greedy tokens, log-probabilities, entropies, values,
 * their gradients and the weights after two steps. If tensors can stay in the device's memory, it also checks that no node on the CPU
 * reads or writes them.
 *
 * Debian's chromium has a software Vulkan for a machine without a GPU: set VK_ICD_FILENAMES to
 * /usr/lib/chromium/vk_swiftshader_icd.json and XDG_RUNTIME_DIR to any folder.
 */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { createRng } from '@toolenv/core';
import type { Rows, TokenBatch } from '@toolenv/core/learner';
import { libtorchRuntime } from '@toolenv/libtorch';
import {
  createModel,
  type Device,
  devices,
  type LearnerOptions,
  loadPolicy,
  onnxRuntime,
  type Runtime,
  type TransformerLearner,
  tensor,
} from '@toolenv/policy';
import { readSafetensors } from '../../packages/policy/src/checkpoint/safetensors.ts';
import { copyTensors, readTensorData } from '../../packages/policy/src/runtime/resident-tensor.ts';
import { opsCases } from '../../packages/policy/test/runtime/ops-cases.ts';
import { operationRun, samplingRun } from '../../packages/policy/test/runtime/runtime-agreement.ts';
import {
  inTemporaryFolder,
  otherLayers,
  randomWeights,
  tinyConfig,
} from '../../packages/policy/test/tiny-model.ts';
import { cpuProvider, describeNode, nodesOffDevice, PlacementWatch } from './placement.ts';

/** Named arrays. */
type Numbers = Record<string, ArrayLike<number>>;

const asked = process.argv[2] ?? 'webgpu';
/** The precision of libtorch, by name. */
const ofLibtorch: Record<string, 'float32' | 'bfloat16'> = {
  libtorch: 'float32',
  'libtorch-bfloat16': 'bfloat16',
};
if (!ofLibtorch[asked] && !isDevice(asked))
  throw new RangeError(`No device "${asked}": ${[...devices, ...Object.keys(ofLibtorch)].join(', ')}.`);
const checkpoint = join(import.meta.dirname, '../../packages/checkpoints/tiny');
/** The largest difference that passes, as a share of the largest number that the CPU computes under the same name. */
const isRounded = ofLibtorch[asked] === 'bfloat16';
const tolerance = isRounded ? 2e-2 : ofLibtorch[asked] ? 1e-4 : 1e-3;
/** Of gradients. PyTorch's own autocast is .03 to .22 from its float32 for this model and such random slopes, whose sums nearly cancel. */
const ofGradients = isRounded ? 0.2 : tolerance;
const variants: Record<string, LearnerOptions & { critic?: boolean }> = {
  'all weights and a critic': { critic: true },
  'layers computed again': { gradientCheckpointing: true },
  LoRA: { lora: { rank: 4 } },
};
/** WebGPU attends by one kernel if heads have a width of 16; the tiny configuration's have 4. */
const samplings: [title: string, differences: Partial<typeof tinyConfig>, temperature: number][] = [
  ['greedy', {}, 0],
  ['greedy, of a large vocabulary', { vocab_size: 5000 }, 0],
  ['of a large vocabulary', { vocab_size: 5000 }, 1],
  ['with wide heads', { hidden_size: 64 }, 1],
  ['with wide heads and a window', { hidden_size: 64, model_type: 'mistral', sliding_window: 8 }, 1],
  ...Object.entries(otherLayers).map(([title, fields]): (typeof samplings)[number] => [
    `with ${title}`,
    fields,
    1,
  ]),
];
const tally = { passed: 0, failed: 0 };

const open = async (name: string): Promise<Runtime> =>
  isDevice(name) ? onnxRuntime({ device: name }) : libtorchRuntime({ precision: ofLibtorch[name] });
const [cpu, device] = [await open('cpu'), await open(asked)];
// On a device without a memory for tensors, every tensor travels anyway. libtorch has no nodes on a CPU beside it.
const watch = ofLibtorch[asked] ? undefined : device.memory && new PlacementWatch();
for (const one of opsCases) {
  const [ours, theirs] = [await operationRun(cpu, one), await operationRun(device, one)];
  // The loss is a sum with either sign, which is smaller than the rounding of its terms.
  for (const [name, { data }] of Object.entries(ours))
    if (!(isRounded && name === 'loss'))
      check(`${one.operation} ${one.title}: ${name}`, data, theirs[name]!.data);
  checkPlacement(`${one.operation} ${one.title}`);
}
if (asked === 'webgpu') await checkTransposed();
for (const [title, differences, temperature] of samplings) {
  // Rounded probabilities draw other tokens.
  if (isRounded && temperature > 0) continue;
  const config = { ...tinyConfig, ...differences };
  const run = (on: Runtime) =>
    samplingRun(on, { model: createModel(config, randomWeights(config, 1)), temperature });
  const [ours, theirs] = [await run(cpu), await run(device)];
  for (const [conversation, tokens] of ours.entries())
    check(`${title}: conversation ${conversation}`, Int32Array.from(tokens), theirs[conversation]!);
  checkPlacement(title);
}
for (const [variant, options] of Object.entries(variants)) {
  const [ours, theirs] = [await compute('cpu', options), await compute(asked, options)];
  for (const [name, numbers] of Object.entries(ours)) check(`${variant}: ${name}`, numbers, theirs[name]!);
  checkPlacement(variant);
}
console.log(`${tally.passed} passed, ${tally.failed} failed`);
process.exit(tally.failed === 0 ? 0 : 1);

/** The numbers of a run of the tiny policy, from sampling to training. */
async function compute(
  name: string,
  { critic, ...learnerOptions }: (typeof variants)[string],
): Promise<Numbers> {
  const started = performance.now();
  const runtime = await open(name);
  await using policy = await loadPolicy(checkpoint, {
    runtime,
    closesRuntime: true,
    learner: learnerOptions,
  });
  const { learner, model } = policy;
  const messages = [{ role: 'user' as const, content: 'Where was Dronis Ashmoor filmed?' }];
  const { tokens } = await policy.act({ messages, tools: [] }, { maxTokens: 16, temperature: 0, seed: 1 });
  const numbers: Numbers = { 'greedy tokens': tokens!.action };

  const rng = createRng(1, 'rows');
  const rows = [12, 20].map((length) => ({
    tokens: Int32Array.from({ length }, () => rng.int(model.config.vocab_size)),
    mask: Uint8Array.from({ length }, (_, t) => Number(t > 3)),
  }));
  const batch: TokenBatch = { rows, temperature: 0.8 };
  const slopes = (): Rows => rows.map(({ mask }) => Float32Array.from(mask, () => rng.float() - 0.5));
  const cotangents = { dLogprobs: slopes(), dEntropy: slopes(), ...(critic && { dValues: slopes() }) };
  // With a small epsilon, a first step is the sign of the gradient, which rounding can turn. A high learning rate magnifies
  // rounding in the second step: at 0.1 a sound device differed by 1.7e-3, at 0.02 by 6e-5.
  const adamw = { learningRate: 0.02, epsilon: 1, maxGradNorm: 10 };
  if (critic) await learner.addCritic({ critic: 'shared' });
  // Values and LoRA's second factor are 0 until the first step.
  // After a step of this size, rounded weights are those of another model.
  for (const step of isRounded ? [1] : [1, 2]) {
    const before = await copyTensors(cpu, await readTensorData(runtime, model.weights));
    for (const [name, found] of Object.entries(await learner.forward(batch)))
      numbers[`${name} before step ${step}`] = found.flatMap((row: Float32Array) => [...row]);
    await learner.backward(batch, cotangents);
    for (const [name, gradient] of Object.entries(await takeGradients(learner)))
      numbers[`gradient of ${name} in step ${step}`] = gradient;
    await learner.backward(batch, cotangents);
    await learner.step(adamw);
    for (const [name, { data }] of Object.entries(await readTensorData(runtime, model.weights)))
      numbers[`change of ${name} by step ${step}`] = data.map((value, i) => value - before[name]!.data[i]!);
  }
  console.log(`${name}: ${((performance.now() - started) / 1000).toFixed(1)} s`);
  return numbers;
}

/** Takes the gradients that a learner and its critic have accumulated, and clears them. The weights do not change. */
async function takeGradients(learner: TransformerLearner): Promise<Numbers> {
  // Without momentum, Adam's first moment is the gradient.
  await learner.step({ learningRate: 0, beta1: 0 });
  return inTemporaryFolder(async (folder) => {
    await learner.save(folder);
    const gradients: Numbers = {};
    for (const file of (await readdir(folder)).filter((name) => /^(optimizer|critic)\./.test(name))) {
      for (const [name, { data }] of Object.entries((await readSafetensors(join(folder, file))).tensors))
        if (name.startsWith('mean ')) gradients[name.slice('mean '.length)] = data;
    }
    return gradients;
  });
}

function isDevice(name: string): name is Device {
  return devices.some((device) => device === name);
}

function check(title: string, expected: ArrayLike<number>, found: ArrayLike<number>): void {
  let [largest, apart] = [0, expected.length === found.length ? 0 : Number.POSITIVE_INFINITY];
  for (let i = 0; i < expected.length; i++) {
    largest = Math.max(largest, Math.abs(expected[i]!));
    const difference = Math.abs(found[i]! - expected[i]!);
    if (!(difference <= apart)) apart = Number.isNaN(difference) ? Number.POSITIVE_INFINITY : difference;
  }
  const allowed = /gradient|change/.test(title) ? ofGradients : tolerance;
  const passed = apart <= (expected instanceof Int32Array ? 0 : allowed * largest);
  tally[passed ? 'passed' : 'failed'] += 1;
  const share = (apart / (largest || 1)).toExponential(1);
  console.log(`${passed ? 'ok      ' : 'FAILED  '}${title}: ${share} apart`);
}

/** A large weight is transposed before its product, which then reads neighbouring numbers: ONNX Runtime must not take that back. */
async function checkTransposed(): Promise<void> {
  const [title, width] = ['linear reads a large weight transposed', 256];
  const program = await device.compile((ops) => ({
    y: ops.linear(ops.input('x', 'float32', ['N', width]), ops.input('weight', 'float32', [width, width])),
  }));
  const x = tensor(new Float32Array(2 * width), [2, width]);
  await program.run({ x, weight: tensor(new Float32Array(width ** 2), [width, width]) });
  await program.close();
  const passed = watch!.take().some(({ opType }) => opType === 'Transpose');
  tally[passed ? 'passed' : 'failed'] += 1;
  console.log(`${passed ? 'ok      ' : 'FAILED  '}${title}`);
}

/** Checks the sessions that were opened since the last check: the CPU may compute shapes and nothing else. */
function checkPlacement(title: string): void {
  if (!watch) return;
  const nodes = watch.take();
  const offDevice = nodesOffDevice(nodes);
  const onCpu = nodes.filter(({ provider }) => provider === cpuProvider).length;
  // If no node was seen, the watch does not work.
  const passed = nodes.length > 0 && offDevice.length === 0;
  tally[passed ? 'passed' : 'failed'] += 1;
  const counts = `${nodes.length} nodes, ${onCpu} on the CPU, ${offDevice.length} take tensors off the device`;
  console.log(`${passed ? 'ok      ' : 'FAILED  '}${title}: ${counts}`);
  for (const node of offDevice) console.log(`        ${describeNode(node)}`);
}
