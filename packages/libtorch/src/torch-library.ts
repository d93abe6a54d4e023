/** TorchLibrary: libtorch's stable C interface (torch/csrc/stable/c/shim.h, torch/csrc/inductor/aoti_torch/c/shim.h), loaded by koffi. */
import { messageOf } from '@toolenv/core';
import koffi from 'koffi';
import { libraryIn, unusable } from './library-file.ts';
import { minVersion } from './torch-versions.ts';

/** The address of a tensor object. */
export type Handle = bigint;

/** c10::ScalarType. */
export const scalarTypes = { int32: 3, int64: 4, float32: 6, bfloat16: 15 } as const;
export type TorchType = keyof typeof scalarTypes;

/** An argument of an operator that is absent. */
export const none = 0n;

const int32 = 'int32_t';
const handle = 'uint64_t';
const int64s = 'int64_t *';

type Call = (...given: unknown[]) => number;

/** Each call throws a TorchError with libtorch's message if the library refuses. It blocks its thread until the CPU has computed. */
export class TorchLibrary {
  /** Such as `2.15.0`. */
  readonly version: string;
  readonly #functions: Record<string, Call> = {};
  readonly #file: string;
  readonly #library: ReturnType<typeof koffi.load>;
  readonly #stack: BigUint64Array = new BigUint64Array(16);
  readonly #abiVersion: bigint;
  readonly #reason: () => string;
  readonly #found: BigUint64Array = new BigUint64Array(4);
  readonly #bits: DataView = new DataView(new ArrayBuffer(8));
  readonly #newOptional: () => bigint;

  /**
   * @param folder The folder of libtorch_cpu: `lib` in the package `torch`.
   * @throws ToolEnvError `usage.libtorch` if it does not load or is too old.
   */
  constructor(folder: string) {
    const file = libraryIn(folder);
    try {
      this.#library = koffi.load(file);
    } catch (error) {
      throw unusable(file, messageOf(error));
    }
    this.#file = file;
    const abiVersion = this.#bind('uint64_t', 'aoti_torch_abi_version', []) as unknown as () => bigint;
    this.#abiVersion = BigInt(abiVersion());
    const [major, minor, patch] = [56n, 48n, 40n].map((shift) => Number((this.#abiVersion >> shift) & 0xffn));
    this.version = `${major}.${minor}.${patch}`;
    if (major! < minVersion[0] || (major === minVersion[0] && minor! < minVersion[1]))
      throw unusable(file, `it is version ${this.version}, and ${minVersion.join('.')} is needed`);
    const reason = this.#bindIfThere('str', 'torch_exception_get_what_without_backtrace', []);
    this.#reason = reason ? () => String(reason()) : () => 'libtorch before 2.13 gives no reason';
    this.#newOptional = this.#optionals();
    this.#bindAll();
  }

  /** Calls an operator of ATen by its name. Tensors among the arguments are handles from {@link own}, which the call consumes. */
  call(operator: string, overload: string, given: readonly bigint[], results = 1): bigint[] {
    for (const [index, each] of given.entries()) this.#stack[index] = each;
    const failed = this.#functions.call!(operator, overload, this.#stack, this.#abiVersion);
    if (failed) throw new TorchError(operator, this.#reason());
    return results === 1 ? [this.#stack[0]!] : [...this.#stack.subarray(0, results)];
  }

  /** Calls a function that gives new tensors through its last arguments. */
  direct(name: string, given: readonly unknown[], results = 1): Handle {
    const outputs = [0, 1, 2].slice(0, results).map((index) => this.#found.subarray(index));
    const failed = this.#functions[name]!(...given, ...outputs);
    if (failed) throw new TorchError(name, this.#reason());
    return this.#found[0]!;
  }

  /** Calls a function that gives nothing. */
  command(name: string, ...given: unknown[]): void {
    if (this.#functions[name]!(...given)) throw new TorchError(name, this.#reason());
  }

  /** A second handle of a tensor, which an operator may consume. */
  own(tensor: Handle): Handle {
    return this.direct('duplicate', [tensor]);
  }

  delete(tensor: Handle): void {
    this.#functions.delete!(tensor);
  }

  double(value: number): bigint {
    this.#bits.setFloat64(0, value, true);
    return this.#bits.getBigUint64(0, true);
  }

  /** An optional argument that is there. The call consumes it. */
  optional(value: bigint): bigint {
    const address = this.#newOptional();
    koffi.encode(address, 'uint64_t', value);
    return address;
  }

  /** A list argument. The call consumes it. */
  list(values: readonly bigint[]): bigint {
    const list = this.direct('newList', [values.length]);
    for (const value of values) this.command('push', list, value);
    return list;
  }

  /** The bytes of a contiguous tensor in this process's memory. They are gone once the tensor is deleted. */
  bytes(tensor: Handle, count: number): ArrayBuffer {
    const address = this.direct('data', [tensor]);
    return count === 0 ? new ArrayBuffer(0) : koffi.view(address, count);
  }

  /** @throws ToolEnvError `usage.libtorch` if the library lacks the function. */
  #bind(result: string, name: string, parameters: readonly string[]): Call {
    const found = this.#bindIfThere(result, name, parameters);
    if (!found) throw unusable(this.#file, `it lacks ${name}`);
    return found;
  }

  #bindIfThere(result: string, name: string, parameters: readonly string[]): Call | undefined {
    try {
      return this.#library.func(name, result, [...parameters]) as unknown as Call;
    } catch {
      return undefined;
    }
  }

  #bindAll(): void {
    const shim = (own: string, name: string, ...parameters: string[]) => {
      this.#functions[own] = this.#bind(int32, name, parameters);
    };
    const result = 'uint64_t *';
    shim('call', 'torch_call_dispatcher', 'str', 'str', 'uint64_t *', 'uint64_t');
    shim('duplicate', 'aoti_torch_new_tensor_handle', handle, result);
    shim('delete', 'aoti_torch_delete_tensor_object', handle);
    shim('data', 'aoti_torch_get_data_ptr', handle, result);
    shim('newList', 'torch_new_list_reserve_size', 'size_t', result);
    shim('push', 'torch_list_push_back', handle, handle);
    shim('copy', 'aoti_torch_copy_', handle, handle, int32);
    const layout = ['int64_t', int64s, int64s];
    shim('empty', 'aoti_torch_empty_strided', ...layout, int32, int32, int32, result);
    shim(
      'fromBlob',
      'aoti_torch_create_tensor_from_blob',
      'void *',
      ...layout,
      'int64_t',
      int32,
      int32,
      int32,
      result,
    );
    shim('add', 'aoti_torch_cpu_add_Tensor', handle, handle, 'double', result);
    shim('mul', 'aoti_torch_cpu_mul_Tensor', handle, handle, result);
    shim('cat', 'aoti_torch_cpu_cat', 'uint64_t *', 'int64_t', 'int64_t', result);
    shim('narrow', 'aoti_torch_cpu_narrow', handle, 'int64_t', 'int64_t', 'int64_t', result);
    shim('permute', 'aoti_torch_cpu_permute', handle, int64s, 'int64_t', result);
    shim('reshape', 'aoti_torch_cpu_reshape', handle, int64s, 'int64_t', result);
    shim('fill', 'aoti_torch_cpu_fill__Scalar', handle, 'double');
  }

  /** Space of 8 bytes that libtorch frees. Libraries before 2.13 free what `malloc` gave. */
  #optionals(): () => bigint {
    const make = this.#bindIfThere(int32, 'torch_new_stable_ivalue', ['uint64_t *']);
    const found = new BigUint64Array(1);
    if (make)
      return () => {
        make(found);
        return found[0]!;
      };
    const malloc = koffi.load(null).func('malloc', 'uint64_t', ['size_t']);
    return () => BigInt(malloc(8));
  }
}

/** What libtorch said of a call that it refused. */
export class TorchError extends Error {
  constructor(operator: string, reason: string) {
    super(`${operator}: ${reason.split('\n')[0]}`);
    this.name = 'TorchError';
  }
}
