/** The bytes of a graph's weights, by which a session gets an arena or none. */
import { expect, test } from 'vitest';
import { GraphBuilder } from '../../../src/runtime/onnx/graph-builder.ts';

test('weightBytes counts inputs of known shape and named constants by the size of their numbers', () => {
  const graph = new GraphBuilder();
  graph.input('weight', 'float32', [3, 5]);
  graph.input('half', 'float16', [2, 2]);
  graph.input('tokens', 'int32', ['B', 7]);
  graph.external('rounded', 'uint8', [9], new Uint8Array(9));
  expect(graph.weightBytes).toBe(4 * 15 + 2 * 4 + 9);
});
