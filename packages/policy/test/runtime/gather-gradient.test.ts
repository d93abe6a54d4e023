/** A row that is gathered many times gets the sum of all its gradients, on any number of threads. */
import { createRng } from '@toolenv/core';
import { expect, test } from 'vitest';
import { onnxRuntime } from '../../src/runtime/onnx/onnx-runtime.ts';
import type { Ops } from '../../src/runtime/ops.ts';
import { gradientOf, tensor } from '../../src/runtime/runtime.ts';

const [rows, width, picks] = [5, 64, 4096];

test.each([1, 4])('on %i threads', async (threads) => {
  const rng = createRng(3, 'ids');
  const ids = Int32Array.from({ length: picks }, () => rng.int(rows));
  const program = <T>(ops: Ops<T>) => ({
    loss: ops.sumAll(
      ops.gatherRows(ops.input('table', 'float32', [rows, width]), ops.input('ids', 'int32', ['N'])),
    ),
  });
  const executable = await onnxRuntime({ threads }).compile(program, {
    gradients: { of: 'loss', to: ['table'] },
  });
  const table = tensor(new Float32Array(rows * width), [rows, width]);
  // Sums of whole numbers are exact in any order, so a difference is a lost addend.
  const expected = Array.from({ length: rows * width }, (_, i) =>
    ids.reduce((count, id) => count + Number(id === Math.floor(i / width)), 0),
  );
  for (let run = 0; run < 20; run++) {
    const outputs = await executable.run({ table, ids: tensor(ids, [picks]) });
    expect([...outputs[gradientOf('table')]!.data]).toEqual(expected);
  }
  await executable.close();
});
