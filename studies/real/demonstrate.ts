/** demonstrate: conversations in which a demonstrator solves training tasks, as lines for supervised learning. */
import { collect, createRng, type EnvHandle, type Policy, rollout, scriptedPolicy } from '@toolenv/core';
import { writeAtomic } from '@toolenv/core/files';
import { conversationOf } from '../../workshop/tiny-policy/demonstrations.ts';
import type { Demonstrator, KindOf } from './demonstrators.ts';

/**
 * Writes conversations for the first `count` training tasks. With `kindOf`, tasks of a kind that has a conversation are left out.
 * @throws Error if a demonstration does not have the whole score, or the tasks are too few.
 */
export async function demonstrate<Task>(
  file: string,
  env: EnvHandle<Task>,
  demonstrator: Demonstrator<Task>,
  { count, kindOf, seed, score }: { count: number; kindOf?: KindOf<Task>; seed: number; score: string },
): Promise<void> {
  const lines: string[] = [];
  const sampling = { maxTokens: 1024, temperature: 0 };
  const seen = new Set<string | number>();
  const { train } = env.tasks;
  for (let group = 0; lines.length < count; group++) {
    if (group === train.length)
      throw new Error(`There are tasks for ${lines.length} of ${count} demonstrations.`);
    const task = await train.get(group);
    const kind = kindOf?.(task) ?? group;
    if (seen.has(kind)) continue;
    seen.add(kind);
    const policy: Policy = scriptedPolicy(demonstrator(task, createRng(seed, 'way', group)));
    const episodes = [{ task, group, sample: 0 }];
    const [played] = await collect(rollout({ env, policy, episodes, concurrency: 1, sampling, seed }));
    const earned = played!.rewards[score];
    if (earned !== 1) throw new Error(`The demonstration of task ${group} has the score ${earned}.`);
    lines.push(JSON.stringify(conversationOf(played!)));
  }
  await writeAtomic(file, `${lines.join('\n')}\n`);
}
