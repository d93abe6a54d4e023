/** Checks the noise that a learner adds to its weights. The weights have moved afterwards. */
import type { Learner, Noise, TokenRow } from '@toolenv/core/learner';
import { answered } from '../in-time.ts';
import { brief, Violation } from '../violation.ts';
import { cells, expectNear } from './token-rows.ts';

const rule = 'LRN-13';
/** Seeds that are tried until the noise is seen. */
const mostSeeds = 16;

/** @param folder To save in. @throws Violation */
export async function checkNoise(
  learner: Learner,
  rows: TokenRow[],
  { folder, timeout }: { folder: string; timeout: number },
): Promise<void> {
  if (!learner.perturb !== !learner.shift)
    throw new Violation(
      rule,
      'both perturb() and shift(), or neither',
      learner.shift ? 'shift()' : 'perturb()',
    );
  if (!learner.perturb) return;
  const within = <T>(expected: string, work: () => Promise<T>) => answered(rule, expected, timeout, work);
  const outputs = async () =>
    (await within('outputs of forward()', () => learner.forward({ rows }))).logprobs;
  const perturbed = async (noise?: Noise) => {
    await within('perturb() to end', async () => learner.perturb?.(noise));
    return outputs();
  };
  const calm = await outputs();
  let first = { seed: 0, scale: 0.05 };
  let noisy = calm;
  // Noise on very few weights may change no probability.
  while (isSame(calm, noisy) && first.seed < mostSeeds) {
    first = { ...first, seed: first.seed + 1 };
    noisy = await perturbed(first);
  }
  if (isSame(calm, noisy)) throw new Violation(rule, 'other logprobs with noise', brief(noisy));
  let other = noisy;
  for (let seed = first.seed + 1; isSame(noisy, other) && seed <= first.seed + mostSeeds; seed++)
    other = await perturbed({ ...first, seed });
  if (isSame(noisy, other))
    throw new Violation(rule, 'other logprobs with the noise of another seed', brief(other));
  if (!isSame(await perturbed(first), noisy))
    throw new Violation(rule, 'equal logprobs with the same noise after other noise', brief(noisy));
  await within('save() to end', () => learner.save(folder));
  const after = await perturbed();
  if (!isSame(after, calm))
    throw new Violation(rule, `the logprobs before the noise: ${brief(calm)}`, brief(after));
  await perturbed(first);
  await within('load() to end', () => learner.load(folder));
  expectNear(rule, 'the logprobs without noise from what save() wrote', calm, await outputs());

  await within('shift() to end', async () => learner.shift?.([first]));
  expectNear(rule, 'the logprobs of perturb() after shift() with its noise', noisy, await outputs());
}

function isSame(one: Float32Array[], other: Float32Array[]): boolean {
  const values = [...cells(other)];
  return [...cells(one)].every(([, , value], place) => Object.is(value, values[place]?.[2]));
}
