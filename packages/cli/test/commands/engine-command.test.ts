/** The table of `toolenv engine`. */
import { expect, it } from 'vitest';
import { engineText } from '../../src/commands/engine-report.ts';

it('has a row for each engine, and the remedy below', () => {
  const text = engineText([
    { engine: 'ONNX Runtime cpu', flags: '', available: true, about: '123 GFLOP/s, 2 threads' },
    { engine: 'TensorFlow.js', flags: '--runtime tfjs', available: true, about: '@tensorflow/tfjs 4.22.0' },
    {
      engine: 'libtorch cpu',
      flags: '--runtime libtorch',
      available: false,
      about: 'no PyTorch was found',
      remedy: 'toolenv engine install libtorch',
    },
  ]);
  expect(text).toBe(
    `
ONNX Runtime cpu  available      123 GFLOP/s, 2 threads
TensorFlow.js     available      @tensorflow/tfjs 4.22.0 (--runtime tfjs)
libtorch cpu      not available  no PyTorch was found
                                 remedy: toolenv engine install libtorch`.slice(1),
  );
});
