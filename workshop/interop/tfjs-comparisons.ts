/** Compares TensorFlow.js on the native library with ONNX Runtime, and prints the results as JSON. */
import { join } from 'node:path';
import { createModel, onnxRuntime, readCheckpoint, type Tensors, tfjsRuntime } from '@toolenv/policy';
import { opsCases } from '../../packages/policy/test/runtime/ops-cases.ts';
import {
  furthest,
  learnerRun,
  operationRun,
  samplingRun,
  trainingRun,
} from '../../packages/policy/test/runtime/runtime-agreement.ts';

export interface Comparison {
  title: string;
  agrees: boolean;
  otherwise: string;
}

/** Relative to the largest expected number in a tensor, or to 0.1 if that is larger. */
const tolerance = 1e-4;

const tfjs = await tfjsRuntime({ backend: 'node' });
const onnx = onnxRuntime();
const comparisons: Comparison[] = [];
const compare = (title: string, found: Tensors, expected: Tensors) => {
  const { name, apart } = furthest(found, expected);
  const otherwise = `${name} differs by ${apart} from ONNX Runtime`;
  comparisons.push({ title, agrees: apart <= tolerance, otherwise });
};

for (const one of opsCases) {
  compare(`${one.operation} ${one.title}`, await operationRun(tfjs, one), await operationRun(onnx, one));
}
const { config, weights } = await readCheckpoint(
  join(import.meta.dirname, '../../packages/checkpoints/tiny'),
);
const shipped = () => createModel(config, weights);
compare('outputs and gradients', await learnerRun(tfjs), await learnerRun(onnx));
compare(
  'outputs and gradients of the tiny policy',
  await learnerRun(tfjs, shipped()),
  await learnerRun(onnx, shipped()),
);
compare('three optimizer steps', await trainingRun(tfjs), await trainingRun(onnx));
const [ours, theirs] = [`${await samplingRun(tfjs)}`, `${await samplingRun(onnx)}`];
comparisons.push({
  title: 'greedy tokens',
  agrees: ours === theirs,
  otherwise: `${ours} instead of ${theirs}`,
});
console.log(JSON.stringify(comparisons));
