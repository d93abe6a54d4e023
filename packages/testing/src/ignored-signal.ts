/** ignoredSignal: finds a call that goes on to its end after it was cancelled, although it has a second to stop (TOOL-8). */
import { setTimeout as sleep } from 'node:timers/promises';

/** Milliseconds from which a call is worth stopping. */
const slow = 100;
/** Milliseconds that a call runs before it is cancelled. */
const headStart = 10;
/** How often a cancelled call must take as long as a whole one: once it may by chance. */
const wanted = 3;
const attempts = 8;

/** A call that ends when nothing of it goes on, or `most` milliseconds after its begin. It does not reject. */
export type Cancellable = (signal: AbortSignal, most: number) => Promise<void>;

/**
 * How long a call takes although it is cancelled after 10 ms, if that is as long as a whole call of at least 100 ms. Otherwise `undefined`: a
 * call that computes without a pause cannot hear of its signal in time, and says nothing.
 * @param prepare Prepares a call and gives it to `time`.
 */
export async function ignoredSignal(
  prepare: (time: (call: Cancellable) => Promise<void>) => Promise<void>,
): Promise<string | undefined> {
  const timed = async (most: number, delay?: number) => {
    let timing = { took: 0, at: Number.POSITIVE_INFINITY };
    await prepare(async (call) => {
      timing = await timingOf(call, most, delay);
    });
    return timing;
  };
  const whole = async () => (await timed(Number.POSITIVE_INFINITY)).took;
  // The first call may load what later calls have.
  const first = await whole();
  const length = first < slow ? first : Math.min(first, await whole());
  if (length < slow) return undefined;
  const most = 1.5 * length + 50;
  for (let attempt = 0, found = 0; attempt < attempts; attempt++) {
    const { took, at } = await timed(most, headStart);
    // The machine is busy, or something remains for which the call did not wait.
    if (at > length / 2 || took > most) continue;
    if (took < 0.9 * length) return undefined;
    if (++found === wanted) return `${Math.round(took)} ms, as long as a call that is not cancelled`;
  }
  return undefined;
}

/** Milliseconds that a call took, and after how many it was cancelled. */
async function timingOf(
  call: Cancellable,
  most: number,
  delay = Number.POSITIVE_INFINITY,
): Promise<{ took: number; at: number }> {
  const controller = new AbortController();
  const begin = performance.now();
  const work = call(controller.signal, most);
  let at = Number.POSITIVE_INFINITY;
  if (delay < at) {
    await Promise.race([sleep(delay), work]);
    at = performance.now() - begin;
    controller.abort(new Error('cancelled by the check'));
  }
  await work;
  return { took: performance.now() - begin, at };
}
