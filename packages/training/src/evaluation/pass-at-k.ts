/** pass@k: the chance that at least one of k episodes of a task passes. */
import { mean } from '../rows/averages.ts';
import { confidenceInterval, type Estimate } from './confidence-interval.ts';

/** The unbiased estimate 1 − C(n − passed, k) / C(n, k) (arXiv 2107.03374, equation 1). `k` is at most `n`. */
export function passAtK(n: number, passed: number, k: number): number {
  if (n - passed < k) return 1;
  let none = 1;
  for (let i = n - passed + 1; i <= n; i++) none *= 1 - k / i;
  return 1 - none;
}

/**
 * pass@k for each power of two up to `samples`, and for `samples`. Tasks with fewer than k scored episodes are left out; a `k`
 * without any task is absent.
 * @param tasks Whether each scored episode of each task passed.
 */
export function passRates(tasks: readonly (readonly boolean[])[], samples: number): Record<number, Estimate> {
  const rates: Record<number, Estimate> = {};
  const powers = Array.from({ length: Math.floor(Math.log2(samples)) + 1 }, (_, i) => 2 ** i);
  for (const k of new Set([...powers, samples])) {
    const whole = tasks.filter(({ length }) => length >= k);
    if (whole.length === 0) continue;
    const estimates = whole.map((episodes) =>
      passAtK(episodes.length, episodes.filter((passed) => passed).length, k),
    );
    const ofTasks = estimates.map((estimate) => [estimate]);
    rates[k] = { mean: mean(estimates), interval: confidenceInterval(ofTasks, [0, 1]) };
  }
  return rates;
}
