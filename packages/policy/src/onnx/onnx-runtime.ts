/** Runs programs on ONNX Runtime. */
import { ToolEnvError } from '@toolenv/core';
import { type InferenceSession, Tensor as OrtTensor, InferenceSession as Sessions } from 'onnxruntime-node';
import { chooseDevice, type Device } from '../device.ts';
import type { Program } from '../ops.ts';
import {
  type Executable,
  type GradientRequest,
  gradientOf,
  type Precision,
  type Runtime,
  type Tensor,
  type Tensors,
} from '../runtime.ts';
import { gradients } from './gradients.ts';
import { OnnxOps } from './onnx-ops.ts';
import { reasonOf } from './reason.ts';

export interface OnnxRuntimeOptions {
  /** Threads of one operation. Default: ONNX Runtime's choice, one per physical core. */
  threads?: number;
  /** Default `cpu`. What a device cannot compute, the CPU does. */
  device?: Device;
  /** Default `float32`. A GPU made for `float16` multiplies faster in it; the CPU, slower, rounds as it does. */
  precision?: Precision;
}

/** @throws ToolEnvError `usage.device`, here or when a program is compiled, for a device that cannot be used. */
export function onnxRuntime({
  threads,
  device: asked = 'cpu',
  precision = 'float32',
}: OnnxRuntimeOptions = {}): Runtime {
  const device = chooseDevice(asked);
  const sessionOptions: InferenceSession.SessionOptions = {
    executionProviders: device === 'cpu' ? ['cpu'] : [device, 'cpu'],
    graphOptimizationLevel: 'all',
    ...(threads !== undefined && { intraOpNumThreads: threads }),
    // A plan of its memory for each shape would be kept beside the memory of all others: half as much again.
    enableMemPattern: false,
    logSeverityLevel: 3,
    extra: { session: { intra_op: { allow_spinning: '1' }, force_spinning_stop: '1' } },
  };
  return {
    name: `onnxruntime-${device}`,
    precision,
    // The WebGPU provider of 1.30 crashes the process on an empty tensor.
    refusesEmpty: device !== 'cpu',
    async compile(program: Program, request?: GradientRequest, constants?: Tensors): Promise<Executable> {
      const { model, inputs } = buildModel(new OnnxOps(device, precision), program, request, constants);
      const session = await Sessions.create(model, sessionOptions).catch((error: unknown) => {
        if (device === 'cpu') throw error;
        const message = `Device ${device} cannot be used (${reasonOf(error)}): choose another, as cpu.`;
        throw new ToolEnvError('usage.device', message, { cause: error });
      });
      return {
        async run(given, into = {}) {
          const feeds: Record<string, OrtTensor> = {};
          for (const name of inputs) {
            const value = given[name];
            if (!value) throw new RangeError(`Input "${name}" is missing.`);
            feeds[name] = toOrt(value);
          }
          const fetches: Record<string, OrtTensor | null> = {};
          for (const name of session.outputNames) fetches[name] = into[name] ? toOrt(into[name]) : null;
          const results = await session.run(feeds, fetches);
          const outputs: Tensors = {};
          for (const [name, { data, dims }] of Object.entries(results)) {
            outputs[name] = into[name] ?? { data: data as Float32Array | Int32Array, dims };
          }
          return outputs;
        },
        close: () => session.release(),
      };
    },
  };
}

function buildModel(
  ops: OnnxOps,
  program: Program,
  request?: GradientRequest,
  constants?: Tensors,
): { model: Uint8Array; inputs: string[] } {
  const outputs = program(ops);
  if (request) {
    const { [request.of]: loss, ...rest } = outputs;
    if (!loss) throw new RangeError(`The program has no output "${request.of}" to differentiate.`);
    const sources = request.to.map((name) => {
      const source = ops.graph.inputs.get(name);
      if (!source) throw new RangeError(`The program has no input "${name}" to differentiate by.`);
      return source;
    });
    const found = gradients(ops, loss, sources);
    for (const [index, name] of request.to.entries()) rest[gradientOf(name)] = found[index]!;
    return ops.graph.build({ ...rest, [request.of]: loss }, constants);
  }
  return ops.graph.build(outputs, constants);
}

/** ONNX Runtime's view of each tensor, so that weights are wrapped once and not at every run. */
const wrapped = new WeakMap<Tensor, OrtTensor>();

function toOrt(value: Tensor): OrtTensor {
  let known = wrapped.get(value);
  if (!known) {
    const { data, dims } = value;
    known =
      data instanceof Float32Array
        ? new OrtTensor('float32', data, dims)
        : new OrtTensor('int32', data, dims);
    wrapped.set(value, known);
  }
  return known;
}
