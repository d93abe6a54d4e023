/** A program that holds an engine, for tests that end it. With `computes`, the engine is in a call for minutes. Prints a line once the engine works. */
import { tensor } from '@toolenv/policy';
import { libtorchRuntime } from '../src/libtorch-runtime.ts';

const runtime = await libtorchRuntime({ threads: 1 });
const program = await runtime.compile((ops) => {
  let x = ops.input('x', 'float32', ['N', 'N']);
  for (let product = 0; product < 200; product++) x = ops.matmul(x, x);
  return { y: ops.sumAll(x) };
});
const size = process.argv[2] === 'computes' ? 4000 : 4;
const done = program.run({ x: tensor(new Float32Array(size * size), [size, size]) });
if (process.argv[2] !== 'computes') await done;
console.log('works');
setInterval(() => {}, 1000);
