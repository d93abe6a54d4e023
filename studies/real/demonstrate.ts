/** demonstrate: conversations in which a demonstrator solves training tasks, as lines for supervised learning. */
import { collect, createRng, type EnvHandle, type Policy, rollout, scriptedPolicy } from '@toolenv/core';
import { writeAtomic } from '@toolenv/core/files';
import { conversationOf } from '../../workshop/tiny-policy/demonstrations.ts';
import type { Demonstrator, KindOf } from './demonstrators.ts';

/**
 * Writes a conversation for each of the first `count` training tasks, or of the first task of each kind.
 * @throws Error if a demonstration does not have the whole score.
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
  for (let group = 0; lines.length < count; group++) {
    const task = await env.tasks.train.get(group);
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
