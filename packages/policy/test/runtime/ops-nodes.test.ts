/** The nodes that are emitted for each device: WebGPU's graphs lack the operations that its provider has no kernel for. */
import { InferenceSession, type Tensor as OrtTensor } from 'onnxruntime-node';
import { expect, test } from 'vitest';
import type { DeviceName } from '../../src/runtime/device-name.ts';
import { OnnxOps } from '../../src/runtime/onnx/onnx-ops.ts';
import { decodeGraph } from '../../src/runtime/onnx/onnx-proto.ts';
import { gradients } from '../../src/runtime/onnx/onnx-runtime.ts';
import { toOrt } from '../../src/runtime/onnx/ort-tensor.ts';
import { type OpsCase, opsCases } from './ops-cases.ts';

/** The encoded model of an operation's value and gradients. */
function modelOf({ inputs, build, by }: OpsCase, device: DeviceName): Uint8Array {
  const ops = new OnnxOps(device);
  const given = Object.fromEntries(
    Object.entries(inputs).map(([name, { type, shape }]) => [name, ops.input(name, type, shape)]),
  );
  const value = build(ops, given);
  const found = gradients(
    ops,
    ops.sumAll(value),
    by.map((name) => given[name]!),
  );
  const outputs = Object.fromEntries(by.map((name, index) => [`gradient ${name}`, found[index]!]));
  return ops.graph.build({ value, ...outputs }).model;
}

function opTypesOf(one: OpsCase, device: DeviceName): string {
  return decodeGraph(modelOf(one, device))
    .node.map(({ opType }) => opType)
    .join(' ');
}

/** The operations' values and gradients whose nodes differ: on the CPU, and on WebGPU. */
const differing: Record<string, [cpu: string, webgpu: string]> = {
  'entropy [3,6]': [
    'LogSoftmax Exp Mul ReduceSum Neg Reshape Shape Expand Reshape Neg Mul Add Mul',
    'ReduceMax Sub Exp ReduceSum Log Sub Exp Mul ReduceSum Neg Reshape Shape Expand Reshape Neg Mul Add Mul',
  ],
  'entropy [3,5]': [
    'LogSoftmax Exp Mul ReduceSum Neg Reshape Shape Expand Reshape Neg Mul Add Mul',
    'ReduceMax Sub Exp ReduceSum Log Sub Exp Mul ReduceSum Neg Reshape Shape Expand Reshape Neg Mul Add Mul',
  ],
  'linear with a large weight': [
    'Gemm Shape Expand Gemm ReduceSum Reshape',
    'Transpose Gemm Shape Expand Gemm ReduceSum',
  ],
  'split into sixteen equal pieces along the first axis': [
    'Split Mul Mul Mul Mul Mul Sub Add Shape Expand Neg Mul Mul Add Mul Mul ReduceSum Mul Mul Mul Mul Mul Mul Mul Mul Mul Mul Mul Mul Mul Mul Mul Mul Concat',
    'Split Split Split Split Mul Mul Mul Mul Mul Sub Add Shape Expand Neg Mul Mul Add Mul Mul ReduceSum Mul Mul Mul Mul Mul Mul Concat Mul Mul Mul Concat Mul Mul Mul Concat Mul Concat',
  ],
  'matmul [2,3] × [3,4] {}': [
    'MatMul Shape Expand FusedMatMul FusedMatMul',
    'MatMul Shape Expand Transpose MatMul Transpose MatMul',
  ],
  'matmul [2,2,3,4] × [2,2,4,5] {}': [
    'MatMul Shape Expand FusedMatMul FusedMatMul',
    'MatMul Shape Expand Transpose MatMul Transpose MatMul',
  ],
  'matmul [2,2,4,3] × [2,2,4,5] {"transposeA":true}': [
    'FusedMatMul Shape Expand FusedMatMul MatMul',
    'Transpose MatMul Shape Expand Transpose MatMul MatMul',
  ],
  'matmul [B,2,T,4] × [B,2,T,4] {"transposeB":true,"scale":0.25}': [
    'FusedMatMul Shape Expand FusedMatMul FusedMatMul',
    'Mul Transpose MatMul Shape Expand Mul MatMul Mul Transpose MatMul',
  ],
  'matmul [2,4,3] × [2,5,4] {"transposeA":true,"transposeB":true,"scale":2}': [
    'FusedMatMul Shape Expand FusedMatMul FusedMatMul',
    'Mul Transpose Transpose MatMul Shape Expand Mul Transpose Transpose MatMul Mul Transpose Transpose MatMul',
  ],
  'gatherRows with repeated ids': [
    'Gather Shape Expand Reshape Shape Mul Shape Add ConstantOfShape Cast Reshape Shape Expand ScatterElements',
    'Gather Shape Expand Reshape Shape Expand Reshape Shape Expand ScatterElements',
  ],
  'gatherRows with distinct ids': [
    'Gather Shape Expand Shape Mul Shape Add ConstantOfShape Cast Reshape ScatterND',
    'Gather Shape Expand Shape Expand Reshape Cast ScatterND',
  ],
  'keepLargest two of five in each row': [
    'TopK Shape Mul Shape Add ConstantOfShape ScatterElements Mul Shape Expand Mul Mul GatherElements Shape Mul Add ConstantOfShape ScatterElements Add',
    'ReduceMax GreaterOrEqual Where ReduceMax GreaterOrEqual Cast Mul Mul Shape Expand Mul Mul Mul Add',
  ],
  'nonZeroRows of which each column picks some, all or none': [
    'Split NonZero Gather Cast NonZero Gather Cast NonZero Gather Cast Mul Gather Gemm Mul Reshape Cast ScatterND Gather Gemm Mul Reshape Cast ScatterND Gather Gemm Mul Reshape Cast ScatterND Shape Expand Gather Mul Gemm Gemm Shape Mul Shape Add ConstantOfShape Cast Reshape ScatterND Gather Mul Gemm Gemm Add Shape Mul Add ConstantOfShape Cast Reshape ScatterND Add Gather Mul Gemm Gemm Add Shape Mul Add ConstantOfShape Cast Reshape ScatterND Add Mul Mul Add Add',
    'Split Mul Add Div Gemm Mul Mul Add Add Div Gemm Mul Mul Add Add Div Gemm Mul Mul Add Shape Expand Mul Mul Gemm Gemm Mul Mul Gemm Gemm Add Add Mul Mul Gemm Gemm Add Add Mul Mul Add Add',
  ],
  'logProbability with repeated ids': [
    'Reshape LogSoftmax GatherElements Reshape Shape Expand Reshape Exp Neg Mul ScatterElements',
    'Reshape ReduceMax Sub Exp ReduceSum Log Sub GatherElements Reshape Shape Expand Reshape Exp Neg Mul ScatterElements',
  ],
  'logProbability of logits far apart': [
    'Reshape LogSoftmax GatherElements Reshape Shape Expand Reshape Exp Neg Mul ScatterElements',
    'Reshape ReduceMax Sub Exp ReduceSum Log Sub GatherElements Reshape Shape Expand Reshape Exp Neg Mul ScatterElements',
  ],
  'attention with more queries than keys and a mask that broadcasts': [
    'FusedMatMul Add Softmax MatMul Shape Expand FusedMatMul Gather ReduceSum Mul Add FusedMatMul Add Softmax Mul ReduceSum Sub Mul FusedMatMul FusedMatMul FusedMatMul',
    'Mul Transpose MatMul Add Softmax MatMul Shape Expand Transpose MatMul Gather ReduceSum Mul Add Transpose MatMul Add Softmax Mul ReduceSum Sub Mul Mul MatMul Transpose MatMul Transpose MatMul',
  ],
  'attention of six heads with three heads of keys, and a mask of each row': [
    'Reshape FusedMatMul Reshape Add Softmax Reshape MatMul Reshape Shape Expand Reshape FusedMatMul Gather ReduceSum Mul Add FusedMatMul Reshape Add Softmax Reshape Mul ReduceSum Sub Mul FusedMatMul Reshape FusedMatMul FusedMatMul',
    'Mul Reshape Transpose MatMul Reshape Add Softmax Reshape MatMul Reshape Shape Expand Reshape Transpose MatMul Gather ReduceSum Mul Add Transpose MatMul Reshape Add Softmax Reshape Mul ReduceSum Sub Mul Mul MatMul Reshape Transpose MatMul Transpose MatMul',
  ],
  'rmsNorm over the last axis': [
    'SimplifiedLayerNormalization Shape Expand Mul Mul Reshape FusedMatMul Mul Mul Mul Mul Sub ReduceSum Reshape',
    'SimplifiedLayerNormalization Shape Expand ReduceSumSquare Add Sqrt Div Mul Mul Reshape MatMul Div Mul Mul Sub ReduceSum',
  ],
  'rmsNorm of a sum that is read after it': [
    'Add SimplifiedLayerNormalization Mul Add Shape Expand Mul Mul Mul Mul Reshape FusedMatMul Mul Mul Mul Mul Sub ReduceSum Reshape Add Add',
    'SkipSimplifiedLayerNormalization Mul Add Shape Expand Mul Mul ReduceSumSquare Add Sqrt Div Mul Mul Reshape MatMul Div Mul Mul Sub ReduceSum Add Add',
  ],
  'rmsNorm of a sum that is read before and after it': [
    'Add Exp SimplifiedLayerNormalization Mul Add Shape Expand Mul Mul Mul Mul Reshape FusedMatMul Mul Mul Mul Mul Sub ReduceSum Reshape Add Mul Add Identity',
    'Add Exp SimplifiedLayerNormalization Mul Add Shape Expand Mul Mul ReduceSumSquare Add Sqrt Div Mul Mul Reshape MatMul Div Mul Mul Sub ReduceSum Add Mul Add Identity',
  ],
};

/** Operands that are broadcast along leading axes only. WebGPU sums the gradient into their shape; the CPU reshapes the sum. */
const broadcast =
  /^(add|sub|mul|div) (\[\] and|.* and (\[\]|\[4\]))|^linear with bias|^checkpoint|^weightedSum/;

test.each(opsCases.map((one) => [`${one.operation} ${one.title}`, one] as const))('%s', (title, one) => {
  const [cpu, webgpu] = [opTypesOf(one, 'cpu'), opTypesOf(one, 'webgpu')];
  if (title in differing) expect([cpu, webgpu]).toEqual(differing[title]);
  else if (broadcast.test(title)) expect(webgpu).toBe(cpu.replaceAll('ReduceSum Reshape', 'ReduceSum'));
  else expect(modelOf(one, 'webgpu')).toEqual(modelOf(one, 'cpu'));
  for (const device of ['cuda', 'dml', 'coreml'] as const)
    expect(modelOf(one, device), device).toEqual(modelOf(one, 'cpu'));
});

const onBoth = opsCases
  .map((one) => [`${one.operation} ${one.title}`, one] as const)
  .filter(([title]) => title in differing || broadcast.test(title));

test.each(onBoth)("%s: WebGPU's nodes compute the same numbers", async (_title, one) => {
  const [expected, found] = [await runOnCpu(one, 'cpu'), await runOnCpu(one, 'webgpu')];
  for (const [name, { data }] of Object.entries(expected)) {
    const numbers = data as Float32Array;
    const largest = Math.max(...numbers.map(Math.abs), 0.1);
    for (const [index, value] of numbers.entries()) {
      const apart = Math.abs((found[name]!.data as Float32Array)[index]! - value);
      expect(apart / largest, `${name}[${index}]`).toBeLessThan(1e-6);
    }
  }
});

/** The CPU has kernels for the nodes of either device. */
async function runOnCpu(one: OpsCase, device: DeviceName): Promise<Record<string, OrtTensor>> {
  const session = await InferenceSession.create(modelOf(one, device), { executionProviders: ['cpu'] });
  const feeds = session.inputNames.map((name) => [name, toOrt(one.inputs[name]!.value)]);
  const outputs = await session.run(Object.fromEntries(feeds));
  await session.release();
  return outputs;
}
