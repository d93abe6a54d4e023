/** The safetensors format: files round-trip, and errors about damaged files name file and tensor. */
import { open, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ToolEnvError } from '@toolenv/core';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readSafetensors, readTensorShapes, writeSafetensors } from '../../src/checkpoint/safetensors.ts';
import { type Tensor, tensor } from '../../src/runtime/runtime.ts';
import { inTemporaryFolder } from '../tiny-model.ts';

const anyTensor: fc.Arbitrary<Tensor> = fc
  .array(fc.integer({ min: 0, max: 4 }), { maxLength: 3 })
  .chain((dims) => {
    const size = dims.reduce((product, dim) => product * dim, 1);
    const data = fc.float32Array({ minLength: size, maxLength: size });
    return data.map((values) => tensor(values, dims));
  });
const name = fc.string({ unit: 'grapheme' }).filter((key) => !key.startsWith('__') && !/^\d+$/.test(key));

test('tensors and metadata round-trip, bit by bit and in order', async () => {
  await inTemporaryFolder((folder) =>
    fc.assert(
      fc.asyncProperty(
        fc.dictionary(name, anyTensor, { maxKeys: 5 }),
        fc.dictionary(name, fc.string(), { maxKeys: 3 }),
        async (tensors, metadata) => {
          const file = join(folder, 'model.safetensors');
          await writeSafetensors(file, tensors, metadata);
          const read = await readSafetensors(file);
          expect(Object.keys(read.tensors)).toEqual(Object.keys(tensors));
          for (const [key, { data, dims }] of Object.entries(tensors)) {
            expect(read.tensors[key]!.dims).toEqual(dims);
            expect(bitsOf(read.tensors[key]!)).toEqual(bitsOf({ data, dims }));
          }
          expect({ ...read.metadata }).toEqual({ ...metadata });
        },
      ),
      { numRuns: 60 },
    ),
  );
});

test('a file truncated at any length is refused by name', async () => {
  await inTemporaryFolder(async (folder) => {
    const file = join(folder, 'cut.safetensors');
    await writeSafetensors(file, { weight: tensor(Float32Array.of(1, 2, 3), [3]) }, {});
    const whole = await readFile(file);
    for (let length = 0; length < whole.length; length++) {
      await writeFile(file, whole.subarray(0, length));
      const error = await thrownBy(readSafetensors(file));
      expect(error.code, `${length} bytes`).toBe('usage.checkpoint_damaged');
      expect(error.message).toContain(file);
    }
  });
});

const good = { dtype: 'F32', shape: [2], data_offsets: [0, 8] };

test.each([
  ['a header that is not JSON', '{"weight": ', ['header']],
  ['a header that is not an object', '[1, 2]', ['header']],
  ['a header of null', 'null', ['header']],
  ['an entry that is not an object', '{"weight": 3}', ['"weight"']],
  ['an entry without offsets', '{"weight": {"dtype": "F32", "shape": [2]}}', ['"weight"']],
  ['a shape that is not an array', JSON.stringify({ weight: { ...good, shape: 'two' } }), ['"weight"']],
  ['a negative shape', JSON.stringify({ weight: { ...good, shape: [-2] } }), ['"weight"']],
  [
    'more bytes than the shape needs',
    JSON.stringify({ weight: { ...good, shape: [1] } }),
    ['"weight"', '8', '4'],
  ],
  ['offsets beyond the file', JSON.stringify({ weight: { ...good, data_offsets: [8, 16] } }), ['"weight"']],
  ['offsets in reverse', JSON.stringify({ weight: { ...good, data_offsets: [8, 0] } }), ['"weight"']],
  [
    'tensors that overlap',
    JSON.stringify({ weight: good, bias: { ...good, shape: [1], data_offsets: [4, 8] } }),
    ['"bias"', 'overlaps "weight"'],
  ],
  [
    'another element type that is cut short',
    JSON.stringify({ weight: { dtype: 'I64', shape: [2], data_offsets: [0, 16] } }),
    ['"weight"', 'cut short'],
  ],
  ['offsets before the data', JSON.stringify({ weight: { ...good, data_offsets: [-8, 0] } }), ['"weight"']],
])('%s is reported as damage', async (_title, header, mentions) => {
  const error = await readingHeader(header);
  expect(error.code).toBe('usage.checkpoint_damaged');
  for (const mention of mentions) expect(error.message).toContain(mention);
});

test('the error for a shape of a million dimensions, or for a name of a megabyte, is short', async () => {
  await inTemporaryFolder(async (folder) => {
    const file = join(folder, 'vast.safetensors');
    const shape = Array(1_000_000).fill(1);
    await writeFile(
      file,
      fileOf(JSON.stringify({ weight: { dtype: 'F32', shape, data_offsets: [0, 4] } }), Buffer.alloc(4)),
    );
    const { message } = await thrownBy(readSafetensors(file, new Map([['weight', [2]]])));
    expect(message).toMatch(/"weight" has shape \[1,1,1[^\]]*… instead of \[2\]: /);
    expect(message.length).toBeLessThan(500);
    const name = 'x'.repeat(1_000_000);
    for (const entry of [good, { ...good, dtype: name }, { ...good, data_offsets: [0, 7] }, { dtype: 7 }]) {
      await writeFile(file, fileOf(JSON.stringify({ [name]: entry, b: good }), Buffer.alloc(8)));
      expect((await thrownBy(readSafetensors(file))).message.length).toBeLessThan(500);
    }
  });
});

test('a header length beyond the end of the file is reported as damage', async () => {
  await inTemporaryFolder(async (folder) => {
    const file = join(folder, 'length.safetensors');
    await writeFile(file, Buffer.alloc(32, 0xff));
    expect((await thrownBy(readSafetensors(file))).code).toBe('usage.checkpoint_damaged');
  });
});

test('the error about an unsupported element type names the type and the remedy', async () => {
  const error = await readingHeader(JSON.stringify({ weight: { ...good, dtype: 'F64', shape: [1] } }));
  expect(error.code).toBe('usage.checkpoint_unsupported');
  expect(error.message).toMatch(/"weight" is F64.*float32/);
});

test('tensors that are not asked for may have any type', async () => {
  await inTemporaryFolder(async (folder) => {
    const file = join(folder, 'buffers.safetensors');
    const buffers = { mask: { dtype: 'BOOL', shape: [3], data_offsets: [0, 3] } };
    const weight = { ...good, data_offsets: [3, 11] };
    await writeFile(file, fileOf(JSON.stringify({ ...buffers, weight }), Buffer.alloc(11)));
    expect([...(await readTensorShapes(file))]).toEqual([
      ['mask', [3]],
      ['weight', [2]],
    ]);
    const { tensors } = await readSafetensors(file, new Map([['weight', [2]]]));
    expect(tensors).toEqual({ weight: tensor(Float32Array.of(0, 0), [2]) });
  });
});

test('a tensor at an offset beyond 2 GiB is read', async () => {
  await inTemporaryFolder(async (folder) => {
    const file = join(folder, 'large.safetensors');
    const start = 3 * 2 ** 30;
    const far = { dtype: 'BF16', shape: [2], data_offsets: [start, start + 4] };
    const before = { dtype: 'U8', shape: [start], data_offsets: [0, start] };
    const header = fileOf(JSON.stringify({ before, far }), Buffer.alloc(0));
    // The middle of the file is a hole and takes no space on disk.
    const handle = await open(file, 'w');
    await handle.write(header, 0, header.length, 0);
    await handle.write(Uint8Array.of(0x80, 0x3f, 0x00, 0xc0), 0, 4, header.length + start);
    await handle.close();
    const { tensors } = await readSafetensors(file, new Map([['far', [2]]]));
    expect(tensors.far!.data).toEqual(Float32Array.of(1, -2));
  });
});

test('a file that does not exist is reported as missing', async () => {
  const error = await thrownBy(readSafetensors('/no/such/model.safetensors'));
  expect(error.code).toBe('usage.checkpoint_missing');
  expect(error.message).toContain('/no/such/model.safetensors');
});

/** The error of reading a file with the given header and eight bytes of data. */
function readingHeader(json: string): Promise<ToolEnvError> {
  return inTemporaryFolder(async (folder) => {
    const file = join(folder, 'header.safetensors');
    await writeFile(file, fileOf(json, Buffer.alloc(8)));
    const error = await thrownBy(readSafetensors(file));
    expect(error.message).toContain(file);
    return error;
  });
}

function fileOf(header: string, data: Buffer): Buffer {
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(Buffer.byteLength(header)));
  return Buffer.concat([length, Buffer.from(header), data]);
}

async function thrownBy(promise: Promise<unknown>): Promise<ToolEnvError> {
  const error = await promise.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!ToolEnvError.isInstance(error)) throw new Error(`Expected a ToolEnvError, got ${error}`);
  return error;
}

function bitsOf({ data }: Tensor): number[] {
  return [...new Uint32Array(data.buffer, data.byteOffset, data.length)];
}
