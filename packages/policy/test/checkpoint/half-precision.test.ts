/** 16-bit numbers: reading is exact for all of them, and writing rounds as PyTorch does. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type HalfFormat, narrow, widen } from '../../src/checkpoint/half-precision.ts';
import { readSafetensors, writeSafetensors } from '../../src/checkpoint/safetensors.ts';
import { inTemporaryFolder } from '../tiny-model.ts';

const golden = join(import.meta.dirname, '../golden/half-precision.safetensors');
const formats: HalfFormat[] = ['bfloat16', 'float16'];
const everyHalf = Uint16Array.from({ length: 1 << 16 }, (_, bits) => bits);

/** The number of given bits, by the formula of IEEE 754. bfloat16 has more bits of exponent. */
function numberOf(bits: number, format: HalfFormat): number {
  const mantissaBits = format === 'bfloat16' ? 7 : 10;
  const bias = format === 'bfloat16' ? 127 : 15;
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits & 0x7fff) >> mantissaBits;
  const fraction = (bits & ((1 << mantissaBits) - 1)) / 2 ** mantissaBits;
  if (exponent === 2 * bias + 1) return fraction === 0 ? sign * Number.POSITIVE_INFINITY : Number.NaN;
  return sign * (exponent === 0 ? fraction * 2 ** (1 - bias) : (1 + fraction) * 2 ** (exponent - bias));
}

function widened(halves: Uint16Array, format: HalfFormat): Float32Array {
  const values = new Float32Array(halves.length);
  new Uint16Array(values.buffer, halves.byteLength).set(halves);
  widen(values, format);
  return values;
}

test.each(formats)('every %s widens to its value', (format) => {
  const expected = Float64Array.from(everyHalf, (bits) => numberOf(bits, format));
  const wrong = [...widened(everyHalf, format)].findIndex((value, bits) => !Object.is(value, expected[bits]));
  expect(wrong).toBe(-1);
});

test.each(formats)('every %s round-trips through float32; NaN stays NaN', (format) => {
  const back = narrow(widened(everyHalf, format), format);
  const changed = [...everyHalf].filter(
    (bits) => !Number.isNaN(numberOf(bits, format)) && back[bits] !== bits,
  );
  expect(changed).toEqual([]);
  const nans = [...everyHalf].filter((bits) => Number.isNaN(numberOf(bits, format)));
  expect(nans.every((bits) => Number.isNaN(numberOf(back[bits]!, format)))).toBe(true);
});

test.each(formats)("a %s tensor of PyTorch's is read exactly", async (format) => {
  const { tensors } = await readSafetensors(golden);
  const stored = await halvesOf(golden, format);
  expect(tensors[format]!.data).toEqual(Float32Array.from(stored, (bits) => numberOf(bits, format)));
});

test.each(formats)('float32 is rounded to the same %s as in PyTorch', async (format) => {
  const { float32 } = (await readSafetensors(golden)).tensors;
  await inTemporaryFolder(async (folder) => {
    const file = join(folder, 'narrow.safetensors');
    await writeSafetensors(file, { [format]: float32! }, {}, format);
    const [ours, theirs] = [await halvesOf(file, format), await halvesOf(golden, format)];
    expect(ours.length).toBe(theirs.length);
    const notANumber = (bits: number) => Number.isNaN(numberOf(bits, format));
    const wrong = [...ours].findIndex(
      (bits, i) => bits !== theirs[i] && !(notANumber(bits) && notANumber(theirs[i]!)),
    );
    expect(wrong).toBe(-1);
  });
});

/** The stored bits of a tensor. */
async function halvesOf(file: string, name: string): Promise<Uint16Array> {
  const bytes = await readFile(file);
  const data = 8 + Number(bytes.readBigUInt64LE());
  const [start, end] = JSON.parse(bytes.toString('utf8', 8, data))[name].data_offsets;
  return new Uint16Array(Uint8Array.from(bytes.subarray(data + start, data + end)).buffer);
}
