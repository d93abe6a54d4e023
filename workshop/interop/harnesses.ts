/** `npm run interop -- harnesses <folder>`: each coding agent that is installed in a folder plays 32 episodes of `bank-v1` to the end. */
import { delimiter, join, resolve } from 'node:path';
import { openEnv } from '@toolenv/core';
import { harnesses, withHarness } from '@toolenv/harnesses';
import bank from '../../examples/bank.ts';
import { type BankTask, bankPlayer, playTasks } from '../../packages/harnesses/process-test/bank-player.ts';

const count = 32;

export async function checkHarnesses(
  folder: string,
  check: (holds: boolean, title: string, difference: string) => void,
): Promise<void> {
  process.env.PATH = [process.env.PATH, join(resolve(folder), 'node_modules', '.bin')].join(delimiter);
  for (const harness of harnesses) {
    const env = await openEnv(bank);
    const tasks = await Promise.all(Array.from({ length: count }, (_, index) => env.tasks.test.get(index)));
    const played = await withHarness(env, harness);
    const wrong: string[] = [];
    const begun = performance.now();
    try {
      const trajectories = await playTasks(played, bankPlayer(tasks as BankTask[]), tasks);
      for (const { group, reward, outcome, steps } of trajectories) {
        // A request that rewrites earlier turns, or a conversation beside the first, would split the episode's tokens.
        const {
          first = 0,
          continued = 0,
          ...others
        } = (steps.at(-1)?.info?.requests ?? {}) as Record<string, number>;
        const isStraight = first === 1 && continued === steps.length - 1 && Object.keys(others).length === 0;
        if (reward !== 1 || !isStraight)
          wrong.push(
            `task ${group}: reward ${reward}, ${JSON.stringify({ outcome, first, continued, ...others })}`,
          );
      }
    } catch (error) {
      wrong.push(String(error));
    } finally {
      await played.close();
    }
    const seconds = ((performance.now() - begun) / 1000).toFixed(0);
    check(wrong.length === 0, `${harness.package}: ${count} episodes in ${seconds} s`, wrong.join('; '));
  }
}
