/** The programs and tensors of an engine in a file, for the process that takes them over. */
import { closeSync, openSync, readSync, writeSync } from 'node:fs';
import { deserialize, serialize } from 'node:v8';
import { sizeOf } from '@toolenv/policy/runtime';
import type { Kernels } from './kernels.ts';
import type { CompileRequest } from './prepared-program.ts';
import type { TorchType } from './torch-library.ts';
import type { TorchTensor } from './torch-tensor.ts';

export interface EngineState {
  /** The last number that was given. */
  count: number;
  peakMemory: number;
  programs: ReadonlyMap<number, CompileRequest>;
  /** Several numbers may name one tensor. */
  kept: ReadonlyMap<number, TorchTensor>;
}

interface Header extends Pick<EngineState, 'count' | 'peakMemory' | 'programs'> {
  tensors: { shape: readonly number[]; type: TorchType }[];
  /** The place in `tensors` of each number. */
  kept: Map<number, number>;
}

const bytesOf = { int32: 4, int64: 8, float32: 4, bfloat16: 2 } as const;
/** Bytes before the header, which say how long it is. */
const prefix = 8;

/** @throws Error of the file system, such as ENOSPC. */
export function writeState(file: string, { kept, ...state }: EngineState, kernels: Kernels): void {
  const tensors = [...new Set(kept.values())];
  const places = new Map(tensors.map((each, place) => [each, place]));
  const header = serialize({
    ...state,
    tensors: tensors.map(({ shape, type }) => ({ shape, type })),
    kept: new Map([...kept].map(([id, each]) => [id, places.get(each)!])),
  } satisfies Header);
  const length = Buffer.alloc(prefix);
  length.writeBigUInt64LE(BigInt(header.length));
  const to = openSync(file, 'wx', 0o600);
  try {
    for (const part of [length, header]) writeAll(to, part);
    for (const each of tensors) {
      const whole = kernels.contiguous(each);
      writeAll(to, numbersOf(whole, kernels));
      whole.drop();
    }
  } finally {
    closeSync(to);
  }
}

export function readState(file: string, kernels: Kernels): EngineState {
  const from = openSync(file, 'r');
  try {
    const length = readAll(from, Buffer.alloc(prefix)).readBigUInt64LE();
    const { tensors, kept, ...state } = deserialize(readAll(from, Buffer.alloc(Number(length)))) as Header;
    const made = tensors.map(({ shape, type }) => {
      const each = kernels.empty(shape, type);
      readAll(from, numbersOf(each, kernels));
      return each;
    });
    const owned = new Map([...kept].map(([id, place]) => [id, made[place]!.keep()]));
    for (const each of made) each.drop();
    return { ...state, kept: owned };
  } finally {
    closeSync(from);
  }
}

/** The bytes of a contiguous tensor where they are. */
function numbersOf({ handle, shape, type }: TorchTensor, { library }: Kernels): Buffer {
  return Buffer.from(library.bytes(handle, bytesOf[type] * sizeOf(shape)));
}

function writeAll(to: number, bytes: Buffer): void {
  for (let at = 0; at < bytes.length; ) at += writeSync(to, bytes, at, Math.min(bytes.length - at, 2 ** 30));
}

function readAll(from: number, bytes: Buffer): Buffer {
  for (let at = 0; at < bytes.length; ) {
    const count = readSync(from, bytes, at, Math.min(bytes.length - at, 2 ** 30), null);
    if (count === 0) throw new RangeError('The file of the engine ends early.');
    at += count;
  }
  return bytes;
}
