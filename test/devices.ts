/**
 * `npm run devices -- webgpu`: a device gives the numbers that the CPU gives, on a small model: losses, gradients, greedy tokens.
 *
 * Without a GPU, Debian's chromium has a software Vulkan: VK_ICD_FILENAMES=/usr/lib/chromium/vk_swiftshader_icd.json.
 */
import { join } from 'node:path';
import { createRng, type TokenBatch } from '@toolenv/core';
import { type Device, devices, loadPolicy } from '@toolenv/policy';
import { takeGradients } from '../packages/policy/test/tiny-model.ts';

const asked = process.argv[2] ?? 'webgpu';
if (!devices.some((device) => device === asked))
  throw new RangeError(`No device "${asked}": ${devices.join(', ')}.`);
const folder = join(import.meta.dirname, '../tiny-policy/checkpoint');
const tally = { passed: 0, failed: 0 };

const [ours, theirs] = [await compute('cpu'), await compute(asked as Device)];
check('log-probabilities', ours.logprobs, theirs.logprobs);
for (const [name, gradient] of Object.entries(ours.gradients))
  check(`gradient of ${name}`, gradient, theirs.gradients[name]!);
check('weights after a step', ours.weights, theirs.weights);
const same = JSON.stringify(ours.greedy) === JSON.stringify(theirs.greedy);
report('greedy tokens', same, `${JSON.stringify(ours.greedy)} and ${JSON.stringify(theirs.greedy)}`);
console.log(`${tally.passed} passed, ${tally.failed} failed`);
process.exit(tally.failed === 0 ? 0 : 1);

interface Numbers {
  logprobs: ArrayLike<number>;
  gradients: Record<string, ArrayLike<number>>;
  weights: ArrayLike<number>;
  greedy: number[];
}

async function compute(device: Device): Promise<Numbers> {
  const started = performance.now();
  const { policy, learner, model } = await loadPolicy(folder, { device });
  const rng = createRng(1, 'rows');
  const rows = [12, 20].map((length) => ({
    tokens: Int32Array.from({ length }, () => rng.int(model.config.vocab_size)),
    mask: Uint8Array.from({ length }, (_, t) => Number(t > 3)),
  }));
  const batch: TokenBatch = { rows, temperature: 0.8 };
  const { logprobs } = await learner.forward(batch);
  const dLogprobs = rows.map(({ mask }) => Float32Array.from(mask, (bit) => -bit / 10));
  await learner.backward(batch, { dLogprobs });
  const gradients = await takeGradients(learner);
  await learner.backward(batch, { dLogprobs });
  await learner.step({ learningRate: 1e-4, maxGradNorm: 1 });
  const messages = [{ role: 'user' as const, content: 'Where was Dronis Ashmoor filmed?' }];
  const { tokens } = await policy.act({ messages, tools: [] }, { maxTokens: 16, temperature: 0, seed: 1 });
  const weights = Object.values(model.weights).flatMap(({ data }) => [...data]);
  console.log(`${device}: ${((performance.now() - started) / 1000).toFixed(1)} s`);
  await learner.close();
  await policy.close();
  return {
    logprobs: logprobs.flatMap((row) => [...row]),
    gradients: Object.fromEntries(Object.entries(gradients).map(([name, { data }]) => [name, data])),
    weights,
    greedy: [...tokens!.action],
  };
}

function check(title: string, a: ArrayLike<number>, b: ArrayLike<number>): void {
  let [largest, difference] = [0, 0];
  for (let i = 0; i < a.length; i++) {
    largest = Math.max(largest, Math.abs(a[i]!));
    difference = Math.max(difference, Math.abs(a[i]! - b[i]!));
  }
  report(
    title,
    a.length === b.length && difference <= 1e-3 * Math.max(1, largest),
    `they differ by ${difference}`,
  );
}

function report(title: string, passed: boolean, otherwise: string): void {
  tally[passed ? 'passed' : 'failed'] += 1;
  console.log(passed ? `ok      ${title}` : `FAILED  ${title}: ${otherwise}`);
}
