/**
 * The check of `npm run devices` that nothing but shapes is computed on the CPU. The sample is the profile and the optimized graph
 * of a product of `queries` and `keys` on WebGPU, as onnxruntime-node 1.30 wrote them, without the fields that are not read.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  describeNode,
  nodesOffDevice,
  type PlacedNode,
  type PlacedTensor,
  placedNodes,
} from '../devices/placement.ts';

const { profile, nodes } = JSON.parse(
  readFileSync(join(import.meta.dirname, '../devices/placement-sample.json'), 'utf8'),
);
const placed = placedNodes(JSON.stringify(profile), { node: nodes });

test('each node is placed by its provider, with its tensors', () => {
  expect(placed.map(({ opType, provider }) => `${opType} ${provider}`)).toEqual([
    'MemcpyFromHost WebGpuExecutionProvider',
    'Shape WebGpuExecutionProvider',
    'MemcpyFromHost WebGpuExecutionProvider',
    'Shape WebGpuExecutionProvider',
    'Shape WebGpuExecutionProvider',
    'Concat CPUExecutionProvider',
    'FusedMatMul CPUExecutionProvider',
    'MemcpyFromHost WebGpuExecutionProvider',
    'Softmax WebGpuExecutionProvider',
    'Reshape WebGpuExecutionProvider',
  ]);
  expect(placed[6]).toEqual({
    name: 'FusedMatMul0',
    opType: 'FusedMatMul',
    provider: 'CPUExecutionProvider',
    inputs: [
      { name: 'queries', type: 'float', dims: [2, 3, 4] },
      { name: 'keys', type: 'float', dims: [2, 5, 4] },
    ],
    outputs: [{ name: 'FusedMatMul0', type: 'float', dims: [2, 3, 5] }],
  });
});

test('a node that ran twice is placed once', () => {
  expect(placedNodes(JSON.stringify([...profile, ...profile]), { node: nodes })).toEqual(placed);
});

test('a product on the CPU takes its tensors off the device, and a shape on the CPU takes none', () => {
  const offDevice = nodesOffDevice(placed);
  expect(offDevice.map(describeNode)).toEqual([
    'MemcpyFromHost "Memcpy_token_0" (WebGpuExecutionProvider) reads "keys" float[2,5,4] and writes "keys_WebGpuExecutionProvider" float[2,5,4]',
    'MemcpyFromHost "Memcpy" (WebGpuExecutionProvider) reads "queries" float[2,3,4] and writes "queries_WebGpuExecutionProvider" float[2,3,4]',
    'FusedMatMul "FusedMatMul0" (CPUExecutionProvider) reads "queries" float[2,3,4], "keys" float[2,5,4] and writes "FusedMatMul0" float[2,3,5]',
    'MemcpyFromHost "Memcpy_token_1" (WebGpuExecutionProvider) reads "FusedMatMul0" float[2,3,5] and writes "FusedMatMul0_WebGpuExecutionProvider" float[2,3,5]',
  ]);
});

test.each<[what: string, tensor: Omit<PlacedTensor, 'name'>, isOff: boolean]>([
  ['a dimension', { type: 'int64', dims: [] }, false],
  ['a shape of eight dimensions', { type: 'int64', dims: [8] }, false],
  ['a vector that is too long for a shape', { type: 'int64', dims: [9] }, true],
  ['a column of ids', { type: 'int64', dims: [4, 1] }, true],
  ['a scalar of a loss', { type: 'float', dims: [] }, true],
  ['half precision', { type: 'float16', dims: [1] }, true],
])('%s on the CPU', (_what, tensor, isOff) => {
  const node: PlacedNode = {
    name: 'Identity0',
    opType: 'Identity',
    provider: 'CPUExecutionProvider',
    inputs: [{ name: 'x', ...tensor }],
    outputs: [],
  };
  expect(nodesOffDevice([node])).toEqual(isOff ? [node] : []);
  expect(nodesOffDevice([{ ...node, provider: 'WebGpuExecutionProvider' }])).toEqual([]);
});
