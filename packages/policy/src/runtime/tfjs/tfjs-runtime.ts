/** Runs programs on TensorFlow.js, one operation at a time. */
import type { Tensor as TfTensor } from '@tensorflow/tfjs';
import { ToolEnvError } from '@toolenv/core';
import type { Program } from '../ops.ts';
import { ResidentTensor } from '../resident-tensor.ts';
import {
  type CompileOptions,
  type GradientRequest,
  gradientOf,
  type Runtime,
  type Tensor,
  type Tensors,
} from '../runtime.ts';
import { loadTfjs, type Tfjs } from './load-tfjs.ts';
import type { TfjsBackend } from './tfjs-backend.ts';
import { type TfjsOps, tfjsOps, toTf } from './tfjs-ops.ts';

export interface TfjsRuntimeOptions {
  /** Default: the first of `gpu`, `node` and `wasm` that is installed. */
  backend?: TfjsBackend;
}

/**
 * TensorFlow.js has one backend at a time for the whole process.
 * @throws ToolEnvError `usage.runtime_missing` with what to install, or `usage.runtime_broken`.
 */
export async function tfjsRuntime(options: TfjsRuntimeOptions = {}): Promise<Runtime> {
  const { tf, backend } = await loadTfjs(options.backend);
  return {
    name: `tfjs-${backend}`,
    // A guess: it calls each operation from JavaScript.
    tokensPerRun: 1024,
    memory: {
      isRemote: backend === 'gpu',
      // The backend shares the numbers of a host tensor until it first computes with them.
      copy: async (value) => resident(tf.tidy(() => tf.add(toTf(tf, value), 0))),
      async read(value) {
        const data = value instanceof ResidentTensor ? await numbersOf(value.handle) : value.data;
        return { data: data.slice(), dims: value.dims };
      },
    },
    async compile(program: Program, { gradients, stays = () => false }: CompileOptions = {}) {
      return {
        async run(given, into = {}) {
          try {
            const results = tf.tidy(() => evaluate(tf, program, tfjsOps(tf, given), gradients));
            return await take(results, stays, given, into).catch((error: unknown) => {
              tf.dispose(results);
              throw error;
            });
          } catch (error) {
            throw error instanceof Error && error.name === 'RuntimeError' ? outOfMemory(error) : error;
          }
        },
        close: async () => {},
      };
    },
  };
}

function resident(value: TfTensor): Tensor {
  return new ResidentTensor(value, value.shape);
}

function evaluate(
  tf: Tfjs,
  program: Program,
  ops: TfjsOps,
  request?: GradientRequest,
): Record<string, TfTensor> {
  // An output may be an input, which must survive when the output is disposed.
  const copies = (outputs: Record<string, TfTensor>) =>
    Object.fromEntries(Object.entries(outputs).map(([name, output]) => [name, tf.clone(output)]));
  if (!request) return copies(program(ops));
  const sources = request.to.map((name) => ops.given(name));
  let others: Record<string, TfTensor> = {};
  const forward = () => {
    const { [request.of]: loss, ...rest } = program(ops);
    if (!loss) throw new RangeError(`The program has no output "${request.of}" to differentiate.`);
    others = copies(rest);
    // Keep the other outputs, which `tidy` would dispose after the forward pass.
    for (const other of Object.values(others)) tf.keep(other);
    return loss;
  };
  try {
    const { value, grads } = tf.engine().gradients(forward, sources, undefined, true);
    const gradients = request.to.map((name, index) => {
      if (!grads[index]) throw new RangeError(`The loss does not depend on "${name}".`);
      return [gradientOf(name), grads[index]] as const;
    });
    return { ...others, [request.of]: tf.clone(value), ...Object.fromEntries(gradients) };
  } catch (error) {
    tf.dispose(others);
    throw error;
  }
}

/** WebAssembly gives no reason when it stops. Programs that otherwise run most likely lack memory. */
function outOfMemory(error: Error): ToolEnvError {
  const message = `WebAssembly stopped (${error.message}), most likely at its limit of 4 GB of memory: use a smaller token budget or model, or install @tensorflow/tfjs-node.`;
  return new ToolEnvError('usage.out_of_memory', message, { cause: error });
}

/** Disposes the results, except the tensors that stay. */
async function take(
  results: Record<string, TfTensor>,
  stays: (output: string) => boolean,
  given: Tensors,
  into: Tensors,
): Promise<Tensors> {
  const inputs = new Set(Object.values(given).map((value) => value instanceof ResidentTensor || value.data));
  const outputs: Tensors = {};
  for (const [name, result] of Object.entries(results)) {
    if (stays(name)) {
      outputs[name] = resident(result);
      continue;
    }
    const data = await numbersOf(result);
    result.dispose();
    into[name]?.data.set(data);
    // A backend that has never used an input returns the same array.
    outputs[name] = into[name] ?? { data: inputs.has(data) ? data.slice() : data, dims: result.shape };
  }
  return outputs;
}

function numbersOf(value: TfTensor): Promise<Float32Array | Int32Array> {
  return value.data() as Promise<Float32Array | Int32Array>;
}
