/** What stands in a browser in the place of Node's: sessions of onnxruntime-web, its devices, and a computation without a deadline. */
import * as node from 'onnxruntime-node';
import * as web from 'onnxruntime-web';
import { describe, expect, test } from 'vitest';
import { withinDeadline as withinDeadlineInBrowser } from '../../src/checkpoint/within-deadline.browser.ts';
import { knownDevices as knownInBrowser } from '../../src/runtime/known-devices.browser.ts';
import { OnnxOps } from '../../src/runtime/onnx/onnx-ops.ts';
import { runSession as runInBrowser } from '../../src/runtime/onnx/run-session.browser.ts';
import { runSession } from '../../src/runtime/onnx/run-session.ts';

/** x · y and x + y, of 2 × 2 matrices. */
function model(): Uint8Array {
  const ops = new OnnxOps();
  const [x, y] = [ops.input('x', 'float32', [2, 2]), ops.input('y', 'float32', [2, 2])];
  return ops.graph.build({ product: ops.matmul(x, y), sum: ops.add(x, y) }).model;
}

describe.each([
  { name: 'onnxruntime-node', library: node, run: runSession },
  { name: 'onnxruntime-web', library: web as unknown as typeof node, run: runInBrowser },
])('$name', ({ library: { InferenceSession, Tensor }, run }) => {
  test('writes an output where it is wanted, and returns the others', async () => {
    const session = await InferenceSession.create(model());
    const matrix = (numbers: number[]) => new Tensor('float32', Float32Array.from(numbers), [2, 2]);
    const wanted = new Float32Array(4);
    const into = { product: new Tensor('float32', wanted, [2, 2]) };
    const { sum } = await run(session, { x: matrix([1, 2, 3, 4]), y: matrix([5, 6, 7, 8]) }, into);
    expect([...wanted]).toEqual([19, 22, 43, 50]);
    expect([...(sum!.data as Float32Array)]).toEqual([6, 8, 10, 12]);
    await session.release();
  });
});

test('a browser has the CPU, and computes without a deadline', () => {
  expect(knownInBrowser()).toEqual([{ device: 'cpu', installed: true }]);
  expect(withinDeadlineInBrowser(() => [1])).toEqual([1]);
});
