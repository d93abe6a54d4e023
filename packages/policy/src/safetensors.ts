/** The safetensors file format: an 8-byte header length, a JSON header, then the tensors' bytes. float32 in and out. */
import { readFile, writeFile } from 'node:fs/promises';
import { messageOf, ToolEnvError } from '@toolenv/core';
import type { Tensor, Tensors } from './runtime.ts';

interface Entry {
  dtype: string;
  shape: number[];
  data_offsets: [number, number];
}

/**
 * Reads every tensor of a file.
 * @throws ToolEnvError `usage.checkpoint_missing`, `usage.checkpoint_damaged` or `usage.checkpoint_unsupported`.
 */
export async function readSafetensors(
  file: string,
): Promise<{ tensors: Tensors; metadata: Record<string, string> }> {
  const bytes = await readFile(file).catch((error: unknown) => {
    throw new ToolEnvError(
      'usage.checkpoint_missing',
      `${file}: ${messageOf(error)}: name a folder with a whole checkpoint.`,
    );
  });
  const damaged = (what: string) =>
    new ToolEnvError(
      'usage.checkpoint_damaged',
      `${file} is damaged (${what}): copy it again or use an earlier checkpoint.`,
    );
  if (bytes.length < 8) throw damaged(`${bytes.length} bytes long`);
  const headerLength = Number(bytes.readBigUInt64LE(0));
  if (8 + headerLength > bytes.length) throw damaged('its header is cut short');
  let header: unknown;
  try {
    header = JSON.parse(bytes.toString('utf8', 8, 8 + headerLength));
  } catch {
    throw damaged('its header is not JSON');
  }
  if (typeof header !== 'object' || header === null || Array.isArray(header))
    throw damaged('its header is not an object');
  const { __metadata__, ...entries } = header as Record<string, unknown> & {
    __metadata__?: Record<string, string>;
  };
  const tensors: Tensors = {};
  for (const [name, entry] of Object.entries(entries)) {
    if (!isEntry(entry)) throw damaged(`its header says nothing sensible of "${name}"`);
    const { dtype, shape, data_offsets } = entry;
    if (dtype !== 'F32') {
      const message = `${file}: "${name}" is ${dtype}, which is not supported: convert the checkpoint to float32.`;
      throw new ToolEnvError('usage.checkpoint_unsupported', message);
    }
    const [start, end] = data_offsets;
    const size = shape.reduce((product, dim) => product * dim, 4);
    if (end - start !== size) throw damaged(`"${name}" has ${end - start} bytes, not ${size}`);
    if (8 + headerLength + end > bytes.length) throw damaged(`"${name}" is cut short`);
    const data = new Float32Array(size / 4);
    bytes.copy(new Uint8Array(data.buffer), 0, 8 + headerLength + start, 8 + headerLength + end);
    tensors[name] = { data, dims: shape };
  }
  return { tensors, metadata: __metadata__ ?? {} };
}

/**
 * Reads the tensors of these names, which must have these shapes.
 * @throws ToolEnvError as {@link readSafetensors} does, naming the tensor that is missing or has another shape.
 */
export async function readTensors(
  file: string,
  shapes: ReadonlyMap<string, readonly number[]>,
): Promise<{ tensors: Tensors; metadata: Record<string, string> }> {
  const { tensors, metadata } = await readSafetensors(file);
  const chosen: Tensors = {};
  for (const [name, shape] of shapes) {
    const found = tensors[name];
    if (!found) {
      throw new ToolEnvError(
        'usage.checkpoint_damaged',
        `${file} lacks "${name}": it does not belong to its config.json.`,
      );
    }
    if (found.dims.join() !== shape.join()) {
      const message = `${file}: "${name}" has shape [${found.dims}], config.json says [${shape}].`;
      throw new ToolEnvError('usage.checkpoint_damaged', message);
    }
    chosen[name] = found;
  }
  return { tensors: chosen, metadata };
}

/** Writes float32 tensors; whoever needs the file whole or not at all writes it beside its place and renames it. */
export async function writeSafetensors(
  file: string,
  tensors: Tensors,
  metadata: Record<string, string>,
): Promise<void> {
  const header: Record<string, unknown> = { __metadata__: metadata };
  let offset = 0;
  for (const [name, { data, dims }] of Object.entries(tensors)) {
    header[name] = { dtype: 'F32', shape: dims, data_offsets: [offset, offset + data.byteLength] };
    offset += data.byteLength;
  }
  // Readers that map the file want tensors aligned to 8 bytes.
  const json = JSON.stringify(header);
  const headerBytes = Buffer.from(json.padEnd(Math.ceil(Buffer.byteLength(json) / 8) * 8));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(headerBytes.length));
  await writeFile(file, Buffer.concat([length, headerBytes, ...Object.values(tensors).map(bytesOf)]));
}

function isEntry(value: unknown): value is Entry {
  const { dtype, shape, data_offsets: offsets } = (value ?? {}) as Partial<Record<keyof Entry, unknown>>;
  const counts = (numbers: unknown) =>
    Array.isArray(numbers) && numbers.every((number) => Number.isSafeInteger(number) && number >= 0);
  return typeof dtype === 'string' && counts(shape) && counts(offsets) && (offsets as number[]).length === 2;
}

function bytesOf({ data }: Tensor): Uint8Array {
  return new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
}
