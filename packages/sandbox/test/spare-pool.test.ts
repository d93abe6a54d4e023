/** The machines of a provider: which are ready, and that none is left, whatever happens while it begins. */
import type { Sandbox } from '@toolenv/core';
import { expect, test } from 'vitest';
import { SparePool } from '../src/spare-pool.ts';

/** Machines are numbers that begin when the test says so. */
function pool(spare: number) {
  const begun: { settle(): void; fail(why: Error): void }[] = [];
  const removed: number[] = [];
  const made = new SparePool<number>({
    spare,
    begin: () =>
      new Promise((resolve, fail) => {
        const machine = begun.length;
        begun.push({ settle: () => resolve(machine), fail });
      }),
    remove: async (machine) => void removed.push(machine),
    sandbox: (machine, closed) =>
      ({
        async close() {
          removed.push(machine);
          closed();
        },
      }) as Sandbox,
  });
  return { made, begun, removed };
}

const closed = { code: 'infrastructure.sandbox' };

test('so many machines are kept ready, and a failed one is replaced by the next that is asked for', async () => {
  const { made, begun, removed } = pool(2);
  expect(begun).toHaveLength(2);
  begun[0]!.fail(new Error('no place'));
  await expect(made.take()).rejects.toThrow('no place');
  expect(begun).toHaveLength(3);
  begun[1]!.settle();
  expect(await made.take()).toBe(1);
  begun[2]!.settle();
  begun[3]!.settle();
  await made.close();
  expect(removed).toEqual([2, 3]);
});

test('close ends the sandboxes, and the machines for which somebody waits', async () => {
  const { made, begun, removed } = pool(0);
  const first = made.sandbox();
  begun[0]!.settle();
  await first;
  const waiting = made.sandbox();
  const closing = made.close();
  await expect(made.sandbox()).rejects.toMatchObject(closed);
  begun[1]!.settle();
  await expect(waiting).rejects.toMatchObject(closed);
  await closing;
  expect(removed).toEqual([0, 1]);
});

test('a machine whose asker gives up is for the next', async () => {
  const { made, begun, removed } = pool(0);
  const leaving = new AbortController();
  const given = made.take(leaving.signal);
  leaving.abort(new Error('enough'));
  await expect(given).rejects.toThrow('enough');
  begun[0]!.settle();
  expect(await made.take()).toBe(0);
  expect(begun).toHaveLength(1);
  await made.close();
  expect(removed).toEqual([]);
});

test('a machine that cannot be removed fails the close, after the others have ended', async () => {
  const removed: number[] = [];
  let count = 0;
  const made = new SparePool<number>({
    spare: 3,
    begin: async () => count++,
    async remove(machine) {
      if (machine === 0) throw new Error('it stays');
      removed.push(machine);
    },
    sandbox: () => ({}) as Sandbox,
  });
  await expect(made.close()).rejects.toThrow('it stays');
  expect(removed).toEqual([1, 2]);
});
