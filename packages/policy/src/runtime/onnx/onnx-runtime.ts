/** Runs programs on ONNX Runtime. */
import type { InferenceSession, Tensor as OrtTensor } from 'onnxruntime-node';
import { chooseDevice, type Device } from '../device.ts';
import type { Program } from '../ops.ts';
import {
  type CompileOptions,
  type Executable,
  gradientOf,
  type Precision,
  type Runtime,
  type Tensors,
} from '../runtime.ts';
import { gradients } from './gradients.ts';
import { OnnxOps } from './onnx-ops.ts';
import { openSession, releaseSession } from './open-session.ts';
import { fromOrt, toOrt } from './ort-tensor.ts';
import { gaveUp } from './reason.ts';
import { webGpuMemory } from './webgpu-memory.ts';

export interface OnnxRuntimeOptions {
  /** Threads of one operation. Default: ONNX Runtime's choice, one per physical core. */
  threads?: number;
  /** Default `cpu`. What a device cannot compute, the CPU does. */
  device?: Device;
  /** Default `float32`. A GPU made for `float16` multiplies faster in it; the CPU, slower, rounds as it does. */
  precision?: Precision;
}

/** What is built in is a copy, laid out for products: a large model gains little by it. */
const mostBuiltInOnCpu = 128 * 2 ** 20;
/** What is built in is on the device, and all else is sent there for each run. To build more would take longer than to send it. */
const mostBuiltInElsewhere = 2 ** 30;

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
  // onnxruntime-node has no other device's memory in its hands.
  const hasMemory = device === 'webgpu';
  const compile = async (program: Program, options: CompileOptions = {}): Promise<Executable> => {
    const { model, inputs, outputs: names } = buildModel(new OnnxOps(device, precision), program, options);
    const staying = hasMemory ? names.filter((name) => options.stays?.(name)) : [];
    const locations = Object.fromEntries(staying.map((name) => [name, 'gpu-buffer' as const]));
    const session = await openSession(device, model, {
      ...sessionOptions,
      ...(staying.length > 0 && { preferredOutputLocation: locations }),
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
        const results = await session.run(feeds, fetches).catch((error) => gaveUp(device, error));
        const outputs: Tensors = {};
        for (const [name, value] of Object.entries(results)) outputs[name] = into[name] ?? fromOrt(value);
        return outputs;
      },
      close: () => releaseSession(session),
    };
  };
  return {
    name: `onnxruntime-${device}`,
    precision,
    ...(hasMemory && { memory: webGpuMemory(compile) }),
    mostBuiltIn: hasMemory ? 0 : device === 'cpu' ? mostBuiltInOnCpu : mostBuiltInElsewhere,
    // The WebGPU provider of 1.30 crashes the process on an empty tensor.
    refusesEmpty: device !== 'cpu',
    compile,
  };
}

function buildModel(
  ops: OnnxOps,
  program: Program,
  { gradients: request, constants }: CompileOptions,
): { model: Uint8Array; inputs: string[]; outputs: string[] } {
  const outputs = program(ops);
  if (request) {
    const loss = outputs[request.of];
    if (!loss) throw new RangeError(`The program has no output "${request.of}" to differentiate.`);
    const sources = request.to.map((name) => {
      const source = ops.graph.inputs.get(name);
      if (!source) throw new RangeError(`The program has no input "${name}" to differentiate by.`);
      return source;
    });
    const found = gradients(ops, loss, sources);
    for (const [index, name] of request.to.entries()) outputs[gradientOf(name)] = found[index]!;
  }
  return { ...ops.graph.build(outputs, constants), outputs: Object.keys(outputs) };
}
