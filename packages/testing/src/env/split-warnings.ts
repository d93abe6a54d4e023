/** Checks the splits of the tasks: tasks to score that are also tasks to learn from, and splits that have no tasks. */
import type { EnvHandle, Split } from '@toolenv/core';
import { canonical } from '@toolenv/core/recording';
import { brief, Violation } from '../violation.ts';
import { spread } from './env-definition-checks.ts';

/** Number of tasks that are looked for, of each split. */
const heldOut = 50;
/** Number of training tasks that are read, and the milliseconds that reading them may take: a task may be slow to make. */
const learned = 2_000;
const maxTime = 1_000;

/** @throws Violation for a task of two splits. */
export async function checkSplits({ tasks }: EnvHandle<unknown>): Promise<void> {
  const textOf = async (split: Split, index: number) =>
    JSON.stringify(canonical(await tasks[split].get(index)));
  const held: { split: Split; texts: string[] }[] = [];
  for (const split of ['validation', 'test'] as const) {
    const texts: string[] = [];
    for (const index of spread(await tasks[split].length, heldOut)) texts.push(await textOf(split, index));
    held.push({ split, texts });
  }
  const wanted = new Set(held.flatMap(({ texts }) => texts));
  const found = new Set<string>();
  const end = performance.now() + maxTime;
  for (const index of wanted.size === 0 ? [] : spread(await tasks.train.length, learned)) {
    if (performance.now() > end) break;
    const text = await textOf('train', index);
    if (wanted.has(text)) found.add(text);
  }
  for (const { split, texts } of held) {
    const shared = texts.filter((text) => found.has(text));
    if (shared.length === 0) continue;
    const received = `${shared.length} of ${texts.length} tasks of ${split}, such as ${brief(JSON.parse(shared[0]!))}`;
    throw new Violation('WARN-9', `no task of ${split} in the training split`, received);
  }
}

/** @throws Violation for a split that its author names and that is empty. */
export async function checkNamedSplits({ tasks, splits = [] }: EnvHandle<unknown>): Promise<void> {
  for (const split of splits) {
    if ((await tasks[split].length) > 0) continue;
    const others = splits.filter((other) => other !== split);
    const counts = await Promise.all(others.map(async (other) => `${await tasks[other].length} in ${other}`));
    throw new Violation(
      'WARN-12',
      `tasks in the split "${split}", which is named`,
      ['none', ...counts].join(', '),
    );
  }
}
