import { expect, test } from 'vitest';
import { addNoise } from '../../src/learner/weight-noise.ts';
import { tensor } from '../../src/runtime/runtime.ts';

const shapes = new Map([['w', [1000, 100]]]);
const zeros = () => ({ w: tensor(new Float32Array(100_000), [1000, 100]) });

async function noiseOf(seed: number): Promise<Float32Array> {
  const { w } = await addNoise({}, zeros(), shapes, [{ seed, scale: 1 }]);
  return w!.data as Float32Array;
}

const meanOf = (values: Float32Array) => values.reduce((sum, value) => sum + value, 0) / values.length;

test('noise has mean 0, variance scale², and no correlation between seeds or neighbours', async () => {
  const [one, other] = [await noiseOf(1), await noiseOf(2)];
  // Five standard deviations of a mean of 100,000 signs.
  const bound = 5 / Math.sqrt(100_000);
  expect(new Set(one)).toEqual(new Set([1, -1]));
  expect(Math.abs(meanOf(one))).toBeLessThan(bound);
  expect(Math.abs(meanOf(one.map((sign, i) => sign * other[i]!)))).toBeLessThan(bound);
  for (const step of [1, 32, 100])
    expect(Math.abs(meanOf(one.slice(step).map((sign, i) => sign * one[i]!)))).toBeLessThan(bound);
});

test('the noise of a seed is the same everywhere', async () => {
  const signs = [...(await noiseOf(7)).slice(0, 40)].map((sign) => (sign > 0 ? '+' : '-')).join('');
  // What this function has made when it was written: integers give the same bits everywhere.
  expect(signs).toBe('+-+-+++++---+-++--++++--+-+--+--+-+-+++-');
});

test('several noises add up, and other tensors stay', async () => {
  const [one, other] = [await noiseOf(1), await noiseOf(2)];
  const tensors = { ...zeros(), rest: tensor(Float32Array.of(5), [1]) };
  const noise = [
    { seed: 1, scale: 0.5 },
    { seed: 2, scale: -0.25 },
  ];
  const sum = await addNoise({}, tensors, shapes, noise);
  expect(sum.rest).toBe(tensors.rest);
  expect(sum.w!.data).toEqual(one.map((sign, i) => 0.5 * sign - 0.25 * other[i]!));
  expect(meanOf(tensors.w.data as Float32Array)).toBe(0);
});

test('earlier tensors are overwritten, the given ones too', async () => {
  const tensors = zeros();
  const first = await addNoise({}, tensors, shapes, [{ seed: 1, scale: 1 }]);
  const second = await addNoise({}, tensors, shapes, [{ seed: 2, scale: 1 }], first);
  expect(second.w!.data).toBe(first.w!.data);
  expect(second.w!.data).toEqual(await noiseOf(2));
  const moved = await addNoise({}, tensors, shapes, [{ seed: 1, scale: 1 }], tensors);
  expect(moved.w!.data).toBe(tensors.w.data);
  expect(tensors.w.data).toEqual(await noiseOf(1));
});
