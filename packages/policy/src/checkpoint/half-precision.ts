/** The two 16-bit floating-point formats of checkpoints: bfloat16 is the upper half of a float32, float16 is IEEE 754's. */

export type HalfFormat = 'bfloat16' | 'float16';

/** Converts the 16-bit numbers in the back half of the memory of `values` to float32, in place and exactly. */
export function widen(values: Float32Array, format: HalfFormat): void {
  const { buffer, byteOffset, length } = values;
  const halves = new Uint16Array(buffer, byteOffset + 2 * length, length);
  const bits = new Uint32Array(buffer, byteOffset, length);
  // Writing value i never reaches the 16-bit number i + 1, so no number is overwritten before it is read.
  if (format === 'bfloat16') for (let i = 0; i < length; i++) bits[i] = halves[i]! << 16;
  else {
    float16Table ??= makeFloat16Table();
    for (let i = 0; i < length; i++) bits[i] = float16Table[halves[i]!]!;
  }
}

/** The bits of the nearest 16-bit numbers, with ties to even as in IEEE 754. Numbers that are too large become infinite. */
export function narrow(values: Float32Array, format: HalfFormat): Uint16Array {
  const bits = new Uint32Array(values.buffer, values.byteOffset, values.length);
  const toHalf = format === 'bfloat16' ? toBfloat16 : toFloat16;
  const halves = new Uint16Array(bits.length);
  // `Uint16Array.from` takes twenty times as long.
  for (let i = 0; i < bits.length; i++) halves[i] = toHalf(bits[i]!);
  return halves;
}

const infinity = 0x7f800000;
/** Drops the lowest `count` bits and rounds to nearest, ties to even. */
const dropBits = (bits: number, count: number) =>
  (bits + (2 ** (count - 1) - 1) + ((bits >>> count) & 1)) >>> count;

function toBfloat16(bits: number): number {
  const notANumber = (bits & 0x7fffffff) > infinity;
  return notANumber ? (bits >>> 16) | 0x40 : dropBits(bits, 16);
}

function toFloat16(bits: number): number {
  const sign = (bits >>> 16) & 0x8000;
  const magnitude = bits & 0x7fffffff;
  if (magnitude > infinity) return sign | 0x7e00;
  // 65520 is halfway between the largest float16 and the next step, so it rounds to infinity.
  if (magnitude >= bitsOf(65520)) return sign | 0x7c00;
  if (magnitude < bitsOf(2 ** -14)) {
    // The last bit of a float32 in [0.5, 1) has the value of float16's smallest subnormal number, so adding 0.5
    // rounds to float16.
    scratch.bits[0] = magnitude;
    return sign | (bitsOf(scratch.value[0]! + 0.5) - bitsOf(0.5));
  }
  return sign | dropBits(magnitude - ((127 - 15) << 23), 13);
}

let float16Table: Uint32Array | undefined;

/** The float32 bits of every float16. */
function makeFloat16Table(): Uint32Array {
  return Uint32Array.from({ length: 1 << 16 }, (_, half) => {
    const sign = (half & 0x8000) << 16;
    const exponent = (half >>> 10) & 0x1f;
    const mantissa = half & 0x3ff;
    if (exponent === 0) return sign | bitsOf(mantissa * 2 ** -24);
    if (exponent === 0x1f) return sign | infinity | (mantissa << 13);
    return sign | ((exponent + 127 - 15) << 23) | (mantissa << 13);
  });
}

const scratch = (() => {
  const value = new Float32Array(1);
  return { value, bits: new Uint32Array(value.buffer) };
})();

function bitsOf(value: number): number {
  scratch.value[0] = value;
  return scratch.bits[0]!;
}
