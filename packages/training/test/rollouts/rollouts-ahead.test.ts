import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { rolloutsAhead } from '../../src/run/steps.ts';

/** Rollouts that take the given turns of the event loop; the consumer learns for as long as it is expected. */
async function run(options: { durations: number[]; learning: number; ahead: number }) {
  const log: string[] = [];
  let updates = 0;
  let playing = 0;
  let most = 0;
  const wait = async (turns: number) => {
    for (let i = 0; i < turns; i++) await new Promise(setImmediate);
  };
  const steps = { from: 2, to: 2 + options.durations.length, ahead: options.ahead };
  const begun = new Map<number, number>();
  const ages: number[] = [];
  for await (const { rollout, staleness } of rolloutsAhead(steps, async (step) => {
    begun.set(step, updates);
    most = Math.max(most, ++playing);
    await wait(options.durations[step - 2]!);
    playing -= 1;
    return step;
  })) {
    log.push(String(rollout));
    expect(staleness).toBe(updates - begun.get(rollout)!);
    ages.push(staleness);
    await wait(options.learning);
    updates += 1;
  }
  return { log, ages, most };
}

describe('rollouts in flight', () => {
  test('arrive in order, within the allowed age and number', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 0, max: 6 }), { minLength: 1, maxLength: 8 }),
        fc.integer({ min: 0, max: 4 }),
        fc.integer({ min: 0, max: 3 }),
        async (durations, learning, ahead) => {
          const { log, ages, most } = await run({ durations, learning, ahead });
          expect(log).toEqual(durations.map((_, i) => String(i + 2)));
          expect(Math.max(...ages)).toBe(Math.min(ahead, durations.length - 1));
          expect(most).toBeLessThanOrEqual(ahead + 1);
        },
      ),
      { numRuns: 60 },
    );
  });

  test('without rollouts ahead, a rollout begins after the previous update', async () => {
    const { ages, most } = await run({ durations: [3, 1, 2], learning: 2, ahead: 0 });
    expect({ ages, most }).toEqual({ ages: [0, 0, 0], most: 1 });
  });

  test('are aborted and awaited when the consumer leaves', async () => {
    const ended: number[] = [];
    const play = (step: number, signal: AbortSignal) =>
      new Promise<number>((resolve, reject) => {
        if (step === 0) resolve(0);
        signal.addEventListener('abort', () => {
          ended.push(step);
          reject(signal.reason);
        });
      });
    for await (const { rollout } of rolloutsAhead({ from: 0, to: 9, ahead: 2 }, play)) {
      expect(rollout).toBe(0);
      break;
    }
    expect(ended.sort()).toEqual([0, 1, 2]);
  });

  test('the error of a rollout is thrown in its turn, and ends the others', async () => {
    let aborted = 0;
    const play = async (step: number, signal: AbortSignal) => {
      signal.addEventListener('abort', () => void aborted++);
      if (step === 1) throw new Error('no disk');
      return step;
    };
    const seen: number[] = [];
    const all = async () => {
      for await (const { rollout } of rolloutsAhead({ from: 0, to: 5, ahead: 1 }, play)) seen.push(rollout);
    };
    await expect(all()).rejects.toThrow('no disk');
    expect({ seen, aborted }).toEqual({ seen: [0], aborted: 3 });
  });

  test('receive the run’s signal', async () => {
    const stop = new AbortController();
    const play = (_step: number, signal: AbortSignal) =>
      new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    const all = async () => {
      for await (const _ of rolloutsAhead({ from: 0, to: 5, ahead: 1, signal: stop.signal }, play));
    };
    const played = all();
    stop.abort(new Error('interrupted'));
    await expect(played).rejects.toThrow('interrupted');
  });
});
