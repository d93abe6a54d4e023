/**
 * `npm run home-episode`: an episode of the demo before and after training, for the home page: the first held-out question that the trained policy
 * answers and its start does not, both greedy. Run the demo first.
 */
import { type EnvHandle, openEnv, playTask, type Trajectory } from '@toolenv/core';
import { writeAtomic } from '@toolenv/core/files';
import type { QaRecord } from '@toolenv/envs-qa';
import { loadPolicy } from '@toolenv/policy';
import { environment, envOptions, training } from './setting.ts';

/** A line of an episode, as the home page shows it. */
export interface EpisodeLine {
  kind: 'call' | 'result' | 'answer';
  text: string;
  /** Of an answer. */
  isRight?: boolean;
}

const [start, end] = ['packages/checkpoints/tiny', 'runs/demo/policy'];
const file = 'site/.vitepress/theme/home-episode.json';

await using env = await openEnv(environment, envOptions, { seed: 1 });
const questions = (env as EnvHandle<unknown> as EnvHandle<QaRecord>).tasks.validation;
await using before = await loadPolicy(start);
await using after = await loadPolicy(end);
const sampling = { maxTokens: training.maxTokens, temperature: 0 };
for (let index = 0; index < 100; index++) {
  const task = await questions.get(index);
  const played: Trajectory[] = [];
  for (const policy of [before, after]) played.push(await playTask(env, task, policy, { sampling }));
  const [first, last] = played as [Trajectory, Trajectory];
  if (first.rewards.em !== 0 || last.rewards.em !== 1) continue;
  const shown = { question: task.question, before: linesOf(first), after: linesOf(last) };
  await writeAtomic(file, `${JSON.stringify(shown, null, 2)}\n`);
  console.log(`${file} has question ${index}: ${task.question}`);
  break;
}

function linesOf({ steps, rewards }: Trajectory): EpisodeLine[] {
  return steps.flatMap(({ action, calls }): EpisodeLine[] => {
    if (calls.length === 0) {
      const text = /<answer>(.*?)<\/answer>/s.exec(action.text)?.[1] ?? action.text;
      return [{ kind: 'answer', text: text.trim(), isRight: rewards.em === 1 }];
    }
    return calls.flatMap(({ call, text }): EpisodeLine[] => [
      {
        kind: 'call',
        text:
          'name' in call ? `${call.name}(${Object.values(call.arguments).join(', ').trim()})` : action.text,
      },
      // The first document is the one that was asked for.
      { kind: 'result', text: text.split('\n')[0]! },
    ]);
  });
}
