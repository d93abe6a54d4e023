/** The safetensors file format: an 8-byte header length, a JSON header, then the tensors' bytes. In memory, tensors are float32. */
import { type FileHandle, open } from 'node:fs/promises';
import { excerpt, messageOf, ToolEnvError } from '@toolenv/core';
import { openRegular } from '@toolenv/core/files';
import { isObject, tryJson } from '@toolenv/core/schemas';
import { bytesOf, type Tensor, type Tensors, tensor } from '../runtime/runtime.ts';
import { type Shapes, sizeOf } from '../runtime/shape.ts';
import { type HalfFormat, narrow, widen } from './half-precision.ts';
import { inOneLine } from './in-one-line.ts';

/** How numbers are stored. */
export type StoredType = 'float32' | HalfFormat;
/** How each tensor is stored, by name. */
export type StoredTypes = Readonly<Record<string, StoredType>>;

interface Entry {
  dtype: string;
  shape: number[];
  data_offsets: [number, number];
}

interface Header {
  entries: Map<string, Entry>;
  metadata: Record<string, string>;
  /** The file position that the tensors' offsets are relative to. */
  data: number;
}

/** Bytes of a header, as in the reference implementation of safetensors. */
const maxHeaderLength = 100_000_000;

const storedTypes = new Map<string, StoredType>([
  ['F32', 'float32'],
  ['BF16', 'bfloat16'],
  ['F16', 'float16'],
]);

/**
 * Reads the tensors named in `shapes`. Checks their shapes before it reads any, and that their numbers are finite.
 * @param shapes Default: every tensor of the file, with any shape and any numbers.
 * @throws ToolEnvError `usage.checkpoint_missing`, `usage.checkpoint_damaged` or `usage.checkpoint_unsupported`. The message names a
 *   tensor that is missing, has another shape, or has a number that is not finite.
 */
export function readSafetensors(
  file: string,
  shapes?: Shapes,
): Promise<{ tensors: Tensors; types: StoredTypes; metadata: Record<string, string> }> {
  return withFile(file, async (handle) => {
    const header = await readHeader(file, handle);
    for (const [name, shape] of shapes ?? []) {
      const found = header.entries.get(name)?.shape;
      if (!found) {
        const message = `${file} lacks "${name}": copy the whole checkpoint again.`;
        throw new ToolEnvError('usage.checkpoint_damaged', message);
      }
      if (found.join() !== shape.join()) {
        const message = `${file}: "${name}" has shape ${excerpt(`[${found}]`)} instead of [${shape}]: use weights of the same model and rank.`;
        throw new ToolEnvError('usage.checkpoint_damaged', message);
      }
    }
    const names = [...(shapes ?? header.entries).keys()];
    const tensors = await readData(file, handle, header, names);
    const types = Object.fromEntries(
      names.map((name) => [name, storedTypes.get(header.entries.get(name)!.dtype)!]),
    );
    if (shapes)
      for (const [name, { data }] of Object.entries(tensors))
        refuseNotFinite(file, name, data as Float32Array);
    return { tensors, types, metadata: header.metadata };
  });
}

/** A weight that is not finite makes every output NaN. */
function refuseNotFinite(file: string, name: string, values: Float32Array): void {
  // The product is NaN for NaN and the infinities, and the sum keeps it.
  let sum = 0;
  for (let i = 0; i < values.length; i++) sum += values[i]! * 0;
  if (sum === 0) return;
  const index = values.findIndex((value) => !Number.isFinite(value));
  throw damaged(file, `${named(name)} has ${values[index]} at index ${index}, not a finite number`);
}

/** The names and shapes of a file's tensors. Throws as {@link readSafetensors} does. */
export function readTensorShapes(file: string): Promise<Map<string, readonly number[]>> {
  return withFile(file, async (handle) => {
    const { entries } = await readHeader(file, handle);
    return new Map([...entries].map(([name, { shape }]) => [name, shape]));
  });
}

/** Writes float32 tensors as `types`. The write is not atomic: a crash can leave an incomplete file. */
export async function writeSafetensors(
  file: string,
  tensors: Tensors,
  metadata: Record<string, string>,
  types: StoredType | StoredTypes = 'float32',
): Promise<void> {
  const typed = Object.entries(tensors).map(([name, value]) => {
    const type = typeof types === 'string' ? types : (types[name] ?? 'float32');
    return { name, ...value, type };
  });
  const header: Record<string, unknown> = { __metadata__: metadata };
  let offset = 0;
  for (const { name, data, dims, type } of typed) {
    const [dtype] = [...storedTypes].find(([, stored]) => stored === type)!;
    const end = offset + data.length * byteWidth(type);
    header[name] = { dtype, shape: dims, data_offsets: [offset, end] };
    offset = end;
  }
  // Yarn's replacement of `fs` cannot write a generator.
  const handle = await open(file, 'w');
  try {
    for (const piece of fileContents(JSON.stringify(header), typed)) await handle.writeFile(piece);
  } finally {
    await handle.close();
  }
}

/** The file contents in pieces, so that rounding to 16 bits needs little memory at a time. */
function* fileContents(
  header: string,
  tensors: readonly (Tensor & { type: StoredType })[],
): Generator<Uint8Array> {
  // Align tensors to 8 bytes for readers that map the file into memory.
  const headerBytes = Buffer.from(header.padEnd(Math.ceil(Buffer.byteLength(header) / 8) * 8));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(headerBytes.length));
  yield length;
  yield headerBytes;
  const pieceLength = 1 << 20;
  for (const { data, type } of tensors) {
    if (type === 'float32') yield bytesOf(data);
    else {
      for (let start = 0; start < data.length; start += pieceLength)
        yield bytesOf(narrow(data.subarray(start, start + pieceLength) as Float32Array, type));
    }
  }
}

async function withFile<T>(file: string, use: (handle: FileHandle) => Promise<T>): Promise<T> {
  try {
    const handle = await openRegular(file);
    try {
      return await use(handle);
    } finally {
      await handle.close();
    }
  } catch (error) {
    // Only errors of the file system are about the file. Others, such as too little memory, pass through.
    if (!(error instanceof Error && 'syscall' in error)) throw error;
    const message = `${file} cannot be read (${messageOf(error)}): name a folder with a whole checkpoint.`;
    throw new ToolEnvError('usage.checkpoint_missing', message, { cause: error });
  }
}

/** Reads the header and checks every entry against the file's size, so that no tensor of a truncated file is read. */
async function readHeader(file: string, handle: FileHandle): Promise<Header> {
  const { size } = await handle.stat();
  if (size < 8) throw damaged(file, `${size} bytes long`);
  const headerLength = Number(
    Buffer.from(await readBytes(file, handle, new Uint8Array(8), 0)).readBigUInt64LE(),
  );
  const data = 8 + headerLength;
  if (data > size) throw damaged(file, 'its header is cut short');
  if (headerLength > maxHeaderLength) throw damaged(file, `its header has ${headerLength} bytes`);
  const json = await readBytes(file, handle, new Uint8Array(headerLength), 8);
  const header = tryJson(Buffer.from(json.buffer).toString());
  if (header === undefined) throw damaged(file, 'its header is not JSON');
  if (!isObject(header)) throw damaged(file, 'its header is not an object');
  const { __metadata__: metadata, ...entries } = header;
  if (metadata !== undefined && !isMetadata(metadata)) throw damaged(file, 'its header has invalid metadata');
  const checked = new Map<string, Entry>();
  for (const [name, entry] of Object.entries(entries)) {
    if (!isEntry(entry)) throw damaged(file, `its header has an invalid entry for ${named(name)}`);
    const [start, end] = entry.data_offsets;
    const storedType = storedTypes.get(entry.dtype);
    const length = storedType && byteWidth(storedType) * sizeOf(entry.shape);
    if (length !== undefined && end - start !== length)
      throw damaged(file, `${named(name)} has ${end - start} bytes, not ${length}`);
    if (data + end > size) throw damaged(file, `${named(name)} is cut short`);
    checked.set(name, entry);
  }
  refuseOverlaps(file, checked);
  return { entries: checked, metadata: metadata ?? {}, data };
}

function refuseOverlaps(file: string, entries: ReadonlyMap<string, Entry>): void {
  const inOrder = [...entries].sort(
    ([, { data_offsets: a }], [, { data_offsets: b }]) => a[0] - b[0] || a[1] - b[1],
  );
  for (const [index, [name, { data_offsets: offsets }]] of inOrder.slice(1).entries()) {
    const [before, { data_offsets: earlier }] = inOrder[index]!;
    if (offsets[0] < earlier[1]) throw damaged(file, `${named(name)} overlaps ${named(before)}`);
  }
}

async function readData(
  file: string,
  handle: FileHandle,
  header: Header,
  names: readonly string[],
): Promise<Tensors> {
  const tensors: Tensors = {};
  for (const name of names) {
    const { dtype, shape, data_offsets: offsets } = header.entries.get(name)!;
    const storedType = storedTypes.get(dtype);
    if (!storedType) {
      const message = `${file}: ${named(name)} is ${inOneLine(dtype)}, which is not supported: convert the checkpoint to float32, bfloat16 or float16.`;
      throw new ToolEnvError('usage.checkpoint_unsupported', message);
    }
    const values = new Float32Array(sizeOf(shape));
    // Read 16-bit numbers into the back half of the array and widen them in place, without another copy.
    const bytes = bytesOf(values).subarray(values.byteLength - (offsets[1] - offsets[0]));
    await readBytes(file, handle, bytes, header.data + offsets[0], named(name));
    if (storedType !== 'float32') widen(values, storedType);
    tensors[name] = tensor(values, shape);
  }
  return tensors;
}

/** Fills `bytes` from the file, starting at `position`. */
async function readBytes(
  file: string,
  handle: FileHandle,
  bytes: Uint8Array,
  position: number,
  what = 'its header',
): Promise<Uint8Array> {
  // A single read must be smaller than 2 GiB.
  const atMost = 1 << 30;
  for (let done = 0; done < bytes.length; ) {
    const length = Math.min(atMost, bytes.length - done);
    const { bytesRead } = await handle.read(bytes, done, length, position + done);
    if (bytesRead === 0) throw damaged(file, `${what} is cut short`);
    done += bytesRead;
  }
  return bytes;
}

/** A file may hold a name of a megabyte. */
function named(tensor: string): string {
  return JSON.stringify(excerpt(tensor));
}

function damaged(file: string, what: string): ToolEnvError {
  const message = `${file} is damaged (${what}): copy it again or use an earlier checkpoint.`;
  return new ToolEnvError('usage.checkpoint_damaged', message);
}

function isEntry(value: unknown): value is Entry {
  const { dtype, shape, data_offsets: offsets } = (value ?? {}) as Partial<Record<keyof Entry, unknown>>;
  const counts = (numbers: unknown): numbers is number[] =>
    Array.isArray(numbers) && numbers.every((number) => Number.isSafeInteger(number) && number >= 0);
  if (typeof dtype !== 'string' || !counts(shape) || !counts(offsets)) return false;
  return offsets.length === 2 && offsets[0]! <= offsets[1]!;
}

function isMetadata(value: unknown): value is Record<string, string> {
  return isObject(value) && Object.values(value).every((each) => typeof each === 'string');
}

function byteWidth(storedType: StoredType): number {
  return storedType === 'float32' ? 4 : 2;
}
