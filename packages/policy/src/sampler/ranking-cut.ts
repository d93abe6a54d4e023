/**
 * Where a ranking of probabilities is cut, without sorting it. Positive float32 numbers rank as their bits do, so a pass over
 * the upper bits and a pass over the lower bits find the lowest probability that stays (radix selection).
 */

/** Probabilities with higher bits stay, and the first `ties` of the probabilities with these bits. */
export interface Cut {
  bits: number;
  ties: number;
}

/** So few probabilities are sorted, because counting by bits has a fixed cost. */
const maxSorted = 2048;

const lowerBits = 15;
const lowerMask = 2 ** lowerBits - 1;

/**
 * Float32 numbers from 2⁻²⁹ on are multiples of 2⁻⁵², and float64 has all such multiples below 2. So the sum of such
 * probabilities is exact, in any order. Smaller probabilities are the tail, which is added in descending order.
 */
const minExact = 2 ** -29;

/** By upper bits, which are 15 in numbers below 2: the number of the probabilities, or their sum. */
const totals = new Float64Array(2 ** 15);
/** By lower bits: the number of the probabilities with the upper bits that were found. */
const counts = new Uint32Array(2 ** lowerBits);

/**
 * The cut after the fewest of the highest probabilities whose number or sum reaches `limit`; `undefined` if all together do not
 * reach it. Sums are those of float64 in descending order.
 * @param least The cut may leave out probabilities below it.
 */
export function cutAt(
  probabilities: Float32Array,
  limit: number,
  by: 'number' | 'sum',
  least = 0,
): Cut | undefined {
  const all = bitsOf(probabilities);
  if (all.length <= maxSorted) return cutInOrder(descending(all), { above: 0, limit, by });
  if (by === 'sum') sumByUpperBits(all, probabilities);
  else countByUpperBits(all);
  const lowest = by === 'sum' ? leastBits(minExact) >>> lowerBits : 0;
  let above = 0;
  let upper = totals.length - 1;
  for (; above + totals[upper]! < limit; upper--) {
    above += totals[upper]!;
    if (upper !== lowest) continue;
    return by === 'sum' ? cutInOrder(tailOf(probabilities, least), { above, limit, by }) : undefined;
  }
  countByLowerBits(all, upper);
  for (let lower = lowerMask; lower >= 0; lower--) {
    const count = counts[lower]!;
    if (count === 0) continue;
    const bits = (upper << lowerBits) | lower;
    const each = by === 'sum' ? floatOf(bits) : 1;
    if (above + count * each >= limit) {
      let ties = Math.max(1, Math.floor((limit - above) / each));
      while (above + ties * each < limit) ties += 1;
      return { bits, ties };
    }
    above += count * each;
  }
  return undefined;
}

// Each loop over a vocabulary is a function, which the engine compiles once and for all.

function sumByUpperBits(all: Int32Array, probabilities: Float32Array): void {
  totals.fill(0);
  for (let i = 0; i < all.length; i++) totals[all[i]! >>> lowerBits]! += probabilities[i]!;
}

function countByUpperBits(all: Int32Array): void {
  totals.fill(0);
  for (let i = 0; i < all.length; i++) totals[all[i]! >>> lowerBits]! += 1;
}

function countByLowerBits(all: Int32Array, upper: number): void {
  counts.fill(0);
  for (let i = 0; i < all.length; i++) if (all[i]! >>> lowerBits === upper) counts[all[i]! & lowerMask]! += 1;
}

/** The cut in probabilities in descending order, after others that add up to `above`. */
function cutInOrder(
  ranked: Float32Array,
  { above, limit, by }: { above: number; limit: number; by: 'number' | 'sum' },
): Cut | undefined {
  let reached = above;
  let ties = 0;
  for (let i = 0; i < ranked.length; i++) {
    reached += by === 'sum' ? ranked[i]! : 1;
    ties = ranked[i] === ranked[i - 1] ? ties + 1 : 1;
    if (reached >= limit) return { bits: leastBits(ranked[i]!), ties };
  }
  return undefined;
}

function descending(bits: Int32Array): Float32Array {
  return new Float32Array(bits.slice().sort().reverse().buffer);
}

/** The sum of the probabilities that float64 has when it adds them in descending order. */
export function descendingSum(probabilities: Float32Array): number {
  let sum = 0;
  for (let i = 0; i < probabilities.length; i++) if (probabilities[i]! >= minExact) sum += probabilities[i]!;
  const tail = tailOf(probabilities, 0);
  for (let i = 0; i < tail.length; i++) sum += tail[i]!;
  return sum;
}

/** The probabilities above 0 and from `least` to `minExact`, in descending order. */
function tailOf(probabilities: Float32Array, least: number): Float32Array {
  const all = bitsOf(probabilities);
  const [lowest, above] = [Math.max(1, leastBits(least)), leastBits(minExact)];
  let count = 0;
  for (let i = 0; i < all.length; i++) if (all[i]! >= lowest && all[i]! < above) count += 1;
  let tail = new Int32Array(count);
  for (let i = 0, to = 0; i < all.length; i++) {
    if (all[i]! >= lowest && all[i]! < above) {
      tail[to] = all[i]!;
      to += 1;
    }
  }
  for (const shift of [0, lowerBits]) tail = sortedBy(tail, shift);
  return new Float32Array(tail.buffer);
}

/** Sorts by 15 bits in descending order. Numbers with equal ones stay in their order. */
function sortedBy(given: Int32Array, shift: number): Int32Array<ArrayBuffer> {
  counts.fill(0);
  for (let i = 0; i < given.length; i++) counts[(given[i]! >>> shift) & lowerMask]! += 1;
  let place = 0;
  for (let digit = lowerMask; digit >= 0; digit--) {
    const count = counts[digit]!;
    counts[digit] = place;
    place += count;
  }
  const sorted = new Int32Array(given.length);
  for (let i = 0; i < given.length; i++) {
    const digit = (given[i]! >>> shift) & lowerMask;
    sorted[counts[digit]!] = given[i]!;
    counts[digit]! += 1;
  }
  return sorted;
}

/** Signed, so that arithmetic with them is of 32 bits. */
export function bitsOf(probabilities: Float32Array): Int32Array {
  return new Int32Array(probabilities.buffer, probabilities.byteOffset, probabilities.length);
}

const scratch = new Float32Array(1);
const scratchBits = bitsOf(scratch);

function floatOf(bits: number): number {
  scratchBits[0] = bits;
  return scratch[0]!;
}

/** The bits of the lowest float32 that is at least `value`. */
export function leastBits(value: number): number {
  scratch[0] = value;
  return scratchBits[0]! + Number(scratch[0]! < value);
}
