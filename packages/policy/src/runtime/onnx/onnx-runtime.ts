/** Runs programs on ONNX Runtime. */
import type { InferenceSession } from '#onnxruntime';
import { runSession } from '#run-session';
import { chooseDevice, type Device } from '../device.ts';
import type { Program } from '../ops.ts';
import { Programs } from '../programs.ts';
import {
  type CompileOptions,
  type DeviceMemory,
  type Executable,
  gradientOf,
  type Precision,
  type Runtime,
  type Tensor,
  type Tensors,
} from '../runtime.ts';
import { anyShape } from '../shape.ts';
import type { BuiltModel, Value } from './graph-builder.ts';
import { OnnxOps } from './onnx-ops.ts';
import { closeSession, openSession } from './open-session.ts';
import { fromOrt, toOrt } from './ort-tensor.ts';
import { gaveUp } from './reason.ts';
import type { OrtTensors } from './run-session.ts';
import { pullBack } from './tape.ts';

export interface OnnxRuntimeOptions {
  /** Threads that compute one operation. Default: one per physical core, which is ONNX Runtime's choice. */
  threads?: number;
  /** Default `cpu`. The CPU computes the operations that another device lacks. */
  device?: Device;
  /** Default `float32`. Many GPUs multiply faster in `float16`. The CPU rounds in the same way, and is slower for it. */
  precision?: Precision;
}

/** In bytes. Constants that are built in are copied and laid out for products, which takes longer for larger ones than it saves. */
const maxBuiltInOnCpu = 2 ** 29;
/** In bytes. Constants that are built in stay on the device; other inputs are sent there for each run. Building in more takes longer than sending it. */
const maxBuiltInElsewhere = 2 ** 30;

/**
 * In bytes. ONNX Runtime's arena grows by powers of two, and keeps what it has: a process that trained an adapter of 135 million parameters
 * held 9.2 GB with it, and 4.7 without, in the same time. A step of a small model would wait for malloc.
 */
const mostInArena = 256 * 2 ** 20;

/** With more rows, it pays to transpose the weights for a product. */
const fewRowsOnCpu = 32;

/** A guess: each run launches hundreds of operations, or sends the weights again. Few batches of more tokens are safe. */
const tokensPerRunElsewhere = 1024;

/** OpenMP's variable for machines that many processes share: threads that wait leave their core to others. */
const threadsSpin = () => process.env.OMP_WAIT_POLICY?.toUpperCase() !== 'PASSIVE';

/** @throws ToolEnvError `usage.device` for a device that cannot be used, here or when a program is compiled. */
export function onnxRuntime({
  threads,
  device: asked = 'cpu',
  precision = 'float32',
}: OnnxRuntimeOptions = {}): Runtime {
  const device = chooseDevice(asked);
  // CUDA would round the operands of float32 products to ten bits (TensorFloat-32). cuBLAS reads the variable when it is loaded.
  if (device === 'cuda' && precision === 'float32') process.env.NVIDIA_TF32_OVERRIDE ??= '0';
  const sessionOptions: InferenceSession.SessionOptions = {
    executionProviders: device === 'cpu' ? ['cpu'] : [device, 'cpu'],
    graphOptimizationLevel: 'all',
    ...(threads !== undefined && { intraOpNumThreads: threads }),
    // With memory patterns, ONNX Runtime keeps memory for every shape that it has seen: half as much again.
    enableMemPattern: false,
    logSeverityLevel: 3,
    extra: {
      // The fusion would give a product back the transposed operand that `OnnxOps.linear` has replaced.
      ...(device === 'webgpu' && { optimization: { disable_specified_optimizers: 'GemmTransposeFusion' } }),
      session: { intra_op: { allow_spinning: threadsSpin() ? '1' : '0' }, force_spinning_stop: '1' },
    },
  };
  // onnxruntime-node can leave outputs in the memory of WebGPU, and of no other device.
  const hasMemory = device === 'webgpu';
  const compile = async (program: Program, options: CompileOptions = {}): Promise<Executable> => {
    const ops = new OnnxOps(device, precision, options);
    const { model, inputs, outputs: names, externalData } = buildModel(ops, program, options.gradients);
    const staying = hasMemory ? names.filter((name) => options.stays?.(name)) : [];
    const locations = Object.fromEntries(staying.map((name) => [name, 'gpu-buffer' as const]));
    const session = await openSession(device, model, {
      ...sessionOptions,
      externalData,
      enableCpuMemArena: device !== 'cpu' || ops.graph.weightBytes <= mostInArena,
      ...(staying.length > 0 && { preferredOutputLocation: locations }),
    });
    return {
      async run(given, into = {}) {
        const feeds: OrtTensors = {};
        for (const name of inputs) {
          const value = given[name];
          if (!value) throw new RangeError(`Input "${name}" is missing.`);
          feeds[name] = toOrt(value);
        }
        const wanted = Object.entries(into).map(([name, value]) => [name, toOrt(value)] as const);
        const results = await runSession(session, feeds, Object.fromEntries(wanted)).catch((error) =>
          gaveUp(device, error),
        );
        const outputs: Tensors = {};
        for (const [name, value] of Object.entries(results))
          outputs[name] = into[name] ?? fromOrt(value, session);
        return outputs;
      },
      close: () => closeSession(session),
    };
  };
  return {
    name: `onnxruntime-${device}`,
    precision,
    ...(hasMemory && { memory: webGpuMemory(compile) }),
    mostBuiltIn: hasMemory ? 0 : device === 'cpu' ? maxBuiltInOnCpu : maxBuiltInElsewhere,
    ...(device === 'webgpu' && { laysOut: true }),
    ...(device === 'cpu' && { hasInt8: true, fewRows: fewRowsOnCpu }),
    // WebGPU's provider of ONNX Runtime 1.30 ends the process on an empty tensor.
    refusesEmpty: device !== 'cpu',
    ...(device !== 'cpu' && { tokensPerRun: tokensPerRunElsewhere, prefersFewOperations: true }),
    compile,
  };
}

function buildModel(
  ops: OnnxOps,
  program: Program,
  request: CompileOptions['gradients'],
): BuiltModel & { outputs: string[] } {
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
  return { ...ops.graph.build(outputs), outputs: Object.keys(outputs) };
}

/**
 * The gradients of the scalar `loss` with respect to `sources`.
 * @throws RangeError if the loss does not depend on one of the sources.
 */
export function gradients(ops: OnnxOps, loss: Value, sources: readonly Value[]): Value[] {
  const found = pullBack([...ops.tape], new Map([[loss, ops.scalar(1)]]), sources, (a, b) => ops.add(a, b));
  return sources.map((source) => {
    const gradient = found.get(source);
    if (!gradient) throw new RangeError(`The loss does not depend on "${source.name}".`);
    return gradient;
  });
}

function webGpuMemory(compile: Runtime['compile']): DeviceMemory {
  const programs = new Programs();
  const through = async (tensor: Tensor, stays: boolean) => {
    const { length: rank } = tensor.dims;
    const program = await programs.get(`${stays ? 'copy' : 'read'} ${rank}`, () =>
      compile((ops) => ({ copy: ops.input('tensor', 'float32', anyShape(rank)) }), { stays: () => stays }),
    );
    return (await program.run({ tensor })).copy!;
  };
  return {
    isRemote: true,
    copy: (tensor) => through(tensor, true),
    read: (tensor) => through(tensor, false),
  };
}
