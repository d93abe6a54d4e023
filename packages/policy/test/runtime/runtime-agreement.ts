/** Computations on which two runtimes must agree, and a measure of their difference. */
import { createRng } from '@toolenv/core';
import type { Rows, TokenOutputs, TokenRow } from '@toolenv/core/learner';
import type { LearnerOptions } from '../../src/learner/learner-options.ts';
import type { Model } from '../../src/model/model.ts';
import type { Ops } from '../../src/runtime/ops.ts';
import { readTensorData } from '../../src/runtime/resident-tensor.ts';
import { type Runtime, type Tensors, tensor } from '../../src/runtime/runtime.ts';
import { Sampler } from '../../src/sampler/sampler.ts';
import { learnerOf, takeGradients, tinyConfig, tinyModel } from '../tiny-model.ts';
import type { OpsCase } from './ops-cases.ts';

/** The value of an operation, and the gradients of a random linear functional of it. */
export async function operationRun(runtime: Runtime, { inputs, build, by }: OpsCase): Promise<Tensors> {
  const given = Object.fromEntries(Object.entries(inputs).map(([name, { value }]) => [name, value]));
  const outputOf = <T>(ops: Ops<T>) => {
    const handles = Object.entries(inputs).map(
      ([name, { type, shape }]) => [name, ops.input(name, type, shape)] as const,
    );
    return build(ops, Object.fromEntries(handles));
  };
  const forward = await runtime.compile((ops) => ({ value: outputOf(ops) }));
  const value = (await forward.run(given)).value!;
  const rng = createRng(9, 'functional');
  const functional = tensor(
    Float32Array.from(value.data, () => 2 * rng.float() - 1),
    value.dims,
  );
  const program = <T>(ops: Ops<T>) => {
    const output = outputOf(ops);
    return { loss: ops.sumAll(ops.mul(ops.input('functional', 'float32', ops.shapeOf(output)), output)) };
  };
  const backward = await runtime.compile(program, { gradients: { of: 'loss', to: by } });
  const outputs = await backward.run({ ...given, functional });
  await forward.close();
  await backward.close();
  return { ...outputs, value };
}

/** The outputs of a learner with a critic for some rows, and the gradients of all the policy's parameters. */
export async function learnerRun(runtime: Runtime, model: Model = tinyModel()): Promise<Tensors> {
  const learner = learnerOf(model, { tokenBudget: 30 }, runtime);
  await learner.addCritic({ critic: 'shared' });
  const before = await learner.forward({ rows: learned, temperature: 0.7 });
  await learner.backward(
    { rows: learned, temperature: 0.7 },
    {
      dLogprobs: randomValues('logprobs'),
      dEntropy: randomValues('entropy'),
      dValues: randomValues('values'),
    },
  );
  const outputs: Tensors = { ...flat(before), ...(await takeGradients(learner)) };
  await learner.close();
  return outputs;
}

/** The gradient norms of three steps of AdamW, then the weights and the learner's outputs. */
export async function trainingRun(runtime: Runtime, options: LearnerOptions = {}): Promise<Tensors> {
  const model = tinyModel();
  const learner = learnerOf(model, options, runtime);
  const norms: number[] = [];
  for (let step = 0; step < 3; step++) {
    await learner.backward({ rows: learned }, { dLogprobs: randomValues(`step ${step}`) });
    const { gradNorm } = await learner.step({ learningRate: 1e-2, weightDecay: 0.01, maxGradNorm: 1 });
    norms.push(gradNorm);
  }
  const after = await learner.forward({ rows: learned });
  const weights = await readTensorData(runtime, model.weights);
  await learner.close();
  return { ...weights, ...flat(after), norms: tensor(Float32Array.from(norms), [norms.length]) };
}

/** The tokens of four conversations of three turns each. The sampler caches three conversations at most. By default every token is the most probable one. */
export async function samplingRun(
  runtime: Runtime,
  { model = tinyModel(), temperature = 0 }: { model?: Model; temperature?: number } = {},
): Promise<number[][]> {
  const sampler = new Sampler(runtime, model, { maxConversations: 3, batchDelay: 0 });
  const histories = rows.map(({ tokens }) => [...tokens]);
  for (let turn = 0; turn < 3; turn++) {
    const turns = histories.map(async (history, index) => {
      const { tokens } = await sampler.sample({
        prompt: Int32Array.from(history),
        maxTokens: 5 + index,
        temperature,
        seed: 1,
        stopTokens: [],
        episodeId: `conversation ${index}`,
      });
      history.push(...tokens, turn);
    });
    await Promise.all(turns);
  }
  await sampler.close();
  return histories;
}

const rows: TokenRow[] = [9, 5, 13, 21].map((length, seed) => {
  const rng = createRng(seed, 'row');
  const tokens = Int32Array.from({ length }, () => rng.int(tinyConfig.vocab_size));
  return { tokens, mask: Uint8Array.from({ length }, (_, position) => Number(position > 1)) };
});

// The last row begins as the longest one does, so that the two are learned as one tree.
const branch = rows[3]!.tokens.map((token, position) => (position < 12 ? token : position)).slice(0, 17);
const learned: TokenRow[] = [
  ...rows,
  { tokens: branch, mask: Uint8Array.from(branch, (_, position) => Number(position > 12)) },
];

function randomValues(name: string): Rows {
  const rng = createRng(1, name);
  return learned.map(({ tokens }) => Float32Array.from(tokens, () => 2 * rng.float() - 1));
}

function flat(outputs: TokenOutputs): Tensors {
  const joined = Object.entries(outputs).map(([name, values]: [string, Rows]) => {
    const data = Float32Array.from(values.flatMap((row) => [...row]));
    return [name, tensor(data, [data.length])] as const;
  });
  return Object.fromEntries(joined);
}

/** The tensor that differs most from the expected one, as a share of the largest number expected in it, or of `least`. */
export function furthest(found: Tensors, expected: Tensors, least = 0.1): { name: string; apart: number } {
  const apart = Object.entries(expected).map(([name, value]) => ({
    name,
    apart: found[name] ? distance(found[name], value, least) : Number.POSITIVE_INFINITY,
  }));
  return apart.reduce((worst, one) => (one.apart > worst.apart ? one : worst));
}

/** Infinite for NaN and for other dimensions. */
function distance(found: Tensors[string], expected: Tensors[string], least: number): number {
  if (`${found.dims}` !== `${expected.dims}`) return Number.POSITIVE_INFINITY;
  let largest = 0;
  let scale = least;
  for (const [index, value] of expected.data.entries()) {
    const apart = Math.abs(found.data[index]! - value);
    if (Number.isNaN(apart)) return Number.POSITIVE_INFINITY;
    largest = Math.max(largest, apart);
    scale = Math.max(scale, Math.abs(value));
  }
  return largest / scale;
}
