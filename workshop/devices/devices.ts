/**
 * `npm run devices -- webgpu`: a device gives the numbers that the CPU gives: every operation and its gradients, then a small
 * model's greedy tokens, log-probabilities, entropies, values, their gradients and the weights after two steps.
 *
 * Without a GPU, Debian's chromium has a software Vulkan: VK_ICD_FILENAMES=/usr/lib/chromium/vk_swiftshader_icd.json, with
 * any folder as XDG_RUNTIME_DIR.
 */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { createRng } from '@toolenv/core';
import type { Rows, TokenBatch } from '@toolenv/core/learner';
import {
  createModel,
  type Device,
  devices,
  type LearnerOptions,
  loadPolicy,
  onnxRuntime,
  type Runtime,
  type TransformerLearner,
} from '@toolenv/policy';
import { readSafetensors } from '../../packages/policy/src/checkpoint/safetensors.ts';
import { copyTensors, readTensorData } from '../../packages/policy/src/runtime/resident-tensor.ts';
import { opsCases } from '../../packages/policy/test/ops-cases.ts';
import { operationRun, samplingRun } from '../../packages/policy/test/runtime-agreement.ts';
import { inTemporaryFolder, randomWeights, tinyConfig } from '../../packages/policy/test/tiny-model.ts';

/** Named arrays. */
type Numbers = Record<string, ArrayLike<number>>;

const asked = (process.argv[2] ?? 'webgpu') as (typeof devices)[number];
if (!devices.includes(asked)) throw new RangeError(`No device "${asked}": ${devices.join(', ')}.`);
const checkpoint = join(import.meta.dirname, '../tiny-policy/checkpoint');
/** As a share of the largest number that the CPU gives under the same name. */
const tolerance = 1e-3;
const variants: Record<string, LearnerOptions & { critic?: boolean }> = {
  'all weights and a critic': { critic: true },
  'layers computed again': { gradientCheckpointing: true },
  LoRA: { lora: { rank: 4 } },
};
const samplings: [title: string, vocabulary: number, temperature: number][] = [
  ['greedy', tinyConfig.vocab_size, 0],
  ['greedy, of a large vocabulary', 5000, 0],
  ['of a large vocabulary', 5000, 1],
];
const tally = { passed: 0, failed: 0 };

const [cpu, device] = [onnxRuntime({ device: 'cpu' }), onnxRuntime({ device: asked })];
for (const one of opsCases) {
  const [ours, theirs] = [await operationRun(cpu, one), await operationRun(device, one)];
  for (const [name, { data }] of Object.entries(ours))
    check(`${one.operation} ${one.title}: ${name}`, data, theirs[name]!.data);
}
for (const [title, vocabulary, temperature] of samplings) {
  const config = { ...tinyConfig, vocab_size: vocabulary };
  const run = (on: Runtime) =>
    samplingRun(on, { model: createModel(config, randomWeights(config, 1)), temperature });
  const [ours, theirs] = [await run(cpu), await run(device)];
  for (const [conversation, tokens] of ours.entries())
    check(`${title}: conversation ${conversation}`, Int32Array.from(tokens), theirs[conversation]!);
}
for (const [variant, options] of Object.entries(variants)) {
  const [ours, theirs] = [await compute('cpu', options), await compute(asked, options)];
  for (const [name, numbers] of Object.entries(ours)) check(`${variant}: ${name}`, numbers, theirs[name]!);
}
console.log(`${tally.passed} passed, ${tally.failed} failed`);
process.exit(tally.failed === 0 ? 0 : 1);

/** What a run of the tiny policy gives, from sampling to training. */
async function compute(
  device: Device,
  { critic, ...learnerOptions }: (typeof variants)[string],
): Promise<Numbers> {
  const started = performance.now();
  const runtime = onnxRuntime({ device });
  const { policy, learner, model } = await loadPolicy(checkpoint, { runtime, learner: learnerOptions });
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
  // Far from 0, so that the step is smooth in the gradient, and not its sign.
  const adamw = { learningRate: 0.1, epsilon: 1, maxGradNorm: 10 };
  if (critic) await learner.addCritic({ critic: 'shared' });
  // The first step makes values, and LoRA's second factor, that are not all 0.
  for (const step of [1, 2]) {
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
  await learner.close();
  await policy.close();
  console.log(`${device}: ${((performance.now() - started) / 1000).toFixed(1)} s`);
  return numbers;
}

/** The gradients that a learner and its critic have accumulated, which are cleared; the weights stay. */
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

function check(title: string, expected: ArrayLike<number>, found: ArrayLike<number>): void {
  let [largest, apart] = [0, expected.length === found.length ? 0 : Number.POSITIVE_INFINITY];
  for (let i = 0; i < expected.length; i++) {
    largest = Math.max(largest, Math.abs(expected[i]!));
    const difference = Math.abs(found[i]! - expected[i]!);
    if (!(difference <= apart)) apart = Number.isNaN(difference) ? Number.POSITIVE_INFINITY : difference;
  }
  const passed = apart <= (expected instanceof Int32Array ? 0 : tolerance * largest);
  tally[passed ? 'passed' : 'failed'] += 1;
  const share = (apart / (largest || 1)).toExponential(1);
  console.log(`${passed ? 'ok      ' : 'FAILED  '}${title}: ${share} apart`);
}
