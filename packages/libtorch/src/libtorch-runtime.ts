/** libtorchRuntime: programs on PyTorch's own kernels. */
import {
  gradientOf,
  type Program,
  ResidentTensor,
  type Runtime,
  recordProgram,
  type Tensor,
} from '@toolenv/policy/runtime';
import type { Kept, Numbers } from './engine.ts';
import { EngineClient, type EngineOptions } from './engine-client.ts';
import { findLibtorch } from './find-libtorch.ts';
import { libraryIn } from './library-file.ts';

export interface LibtorchOptions extends EngineOptions {
  /** The folder of libtorch's libraries: `lib` in the package `torch`. Default: {@link findLibtorch}. */
  folder?: string | undefined;
  /** The precision of products. Default `float32`. CPUs with AMX or AVX512-BF16 multiply faster in `bfloat16`. */
  precision?: 'float32' | 'bfloat16' | undefined;
}

/** In parameters. Each token of a smaller model costs more in requests to the engine than in products. */
const minSampled = 50e6;

type Resident = ResidentTensor<{ value: Kept; engine: EngineClient; dispose(): void }>;

export interface LibtorchRuntime extends Runtime {
  /** Of libtorch, such as `2.15.0`. */
  readonly version: string;
  /** Tensors in the memory of the engine, and those of them that are not disposed. */
  count(): Promise<{ alive: number; kept: number }>;
  /** The most memory that the engine has had, in bytes. */
  peakMemory(): Promise<number>;
  close(): Promise<void>;
}

/** @throws ToolEnvError `usage.libtorch` if there is no library, or none that can be used. */
export async function libtorchRuntime({
  folder = findLibtorch(),
  precision = 'float32',
  ...options
}: LibtorchOptions = {}): Promise<LibtorchRuntime> {
  options.signal?.throwIfAborted();
  // Before a process is started for it.
  libraryIn(folder);
  const engine = new EngineClient(options);
  const version = await engine.open(folder, precision).catch(async (error: unknown) => {
    await engine.close();
    throw error;
  });
  const disposed: Kept[] = [];
  // A step disposes hundreds of tensors at once, in one request.
  const dispose = (value: Kept) => {
    if (disposed.push(value) > 1) return;
    queueMicrotask(() => void engine.ask('dispose', ...disposed.splice(0)).catch(() => {}));
  };
  const resident = (value: Kept): Resident =>
    new ResidentTensor({ value, engine, dispose: () => dispose(value) }, value.dims);
  const ownValue = (value: Tensor): Kept => {
    const handle = value instanceof ResidentTensor ? (value as Resident).handle : undefined;
    // The same number is another tensor in another engine.
    if (handle?.engine !== engine) throw new RangeError("The tensor is not in this runtime's memory.");
    return handle.value;
  };
  const given = (value: Tensor): Numbers | Kept =>
    value instanceof ResidentTensor ? ownValue(value) : { data: value.data, dims: value.dims };
  const kept = (tensors: readonly Tensor[]) => tensors.map(ownValue);
  return {
    name: 'libtorch-cpu',
    version,
    precision,
    hasPools: true,
    prefersFewOperations: true,
    minSampled,
    count: () => engine.ask('count'),
    peakMemory: () => engine.ask('peakMemory'),
    close: () => engine.close(),
    memory: {
      isRemote: true,
      copy: async (value) => resident(await engine.ask('copy', given(value))),
      async read(value) {
        const found = given(value);
        return 'kept' in found ? engine.ask('read', found) : { data: found.data.slice(), dims: found.dims };
      },
    },
    optimizer: {
      async accumulate(sums, gradients, share) {
        const found = await engine.ask('accumulate', sums && kept(sums), kept(gradients), share);
        return found.map(resident);
      },
      norm: (tensors) => engine.ask('norm', kept(tensors)),
      adamw: ({ weights, gradients, means, variances }, update) =>
        engine.ask(
          'adamw',
          {
            weights: kept(weights),
            gradients: kept(gradients),
            means: kept(means),
            variances: kept(variances),
          },
          update,
        ),
    },
    async compile(program: Program, { gradients, stays = () => false } = {}) {
      const recorded = recordProgram(program);
      const names = [...Object.keys(recorded.outputs), ...(gradients?.to ?? []).map(gradientOf)];
      const { id, inputs: needed } = await engine.ask('compile', {
        program: recorded,
        gradients,
        stays: names.filter(stays),
      });
      return {
        async run(inputs, into = {}) {
          const wanted = needed.map((name) => {
            const value = inputs[name] && given(inputs[name]);
            return value && 'kept' in value ? value.kept : value;
          });
          const found = await engine.ask('run', id, wanted);
          const outputs = Object.entries(found).map(([name, value]): [string, Tensor] => {
            if ('kept' in value) return [name, resident(value)];
            into[name]?.data.set(value.data);
            return [name, into[name] ?? value];
          });
          return Object.fromEntries(outputs);
        },
        close: () => engine.ask('close', id),
      };
    },
  };
}
