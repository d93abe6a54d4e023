/** readRecordedStart: the recorded episode that `toolenv play --episode` begins with. */
import { type Action, ToolEnvError } from '@toolenv/core';
import { readTrajectories } from '@toolenv/core/recording';
import type { Replayed } from '@toolenv/view';
import { findRecordedRun } from '@toolenv/view/recorded';

export interface RecordedStart extends Replayed {
  /** Reference of the environment. */
  env: string;
  /** In the file, from 0. */
  number: number;
  task: unknown;
  /** Turns of the whole episode. */
  turns: number;
  /** The options that the run gave the environment. */
  options: Record<string, unknown>;
}

/**
 * @param place A run's folder or a file of trajectories, and the number of an episode in it: `runs/first:12`. Without a number, the first.
 * @param turns Turns to replay. Default: all but the last.
 * @throws ToolEnvError `usage.no_run`, `usage.no_episode`, and what reading the file throws.
 */
export async function readRecordedStart(place: string, turns?: number): Promise<RecordedStart> {
  const [, path = place, digits = '0'] = /^(.+):(\d{1,9})$/.exec(place) ?? [];
  const number = Number(digits);
  const { episodes, facts } = findRecordedRun(path);
  if (episodes === undefined) throw new ToolEnvError('usage.no_episode', `${path} kept no episodes.`);
  let read = 0;
  for await (const { env, task, seed, steps } of readTrajectories(episodes)) {
    if (read++ < number) continue;
    const options = facts.env === env ? Object(facts.envOptions) : {};
    const actions = steps.slice(0, turns ?? steps.length - 1).map(({ action }) => withoutTokens(action));
    return { env, number, task, seed, actions, turns: steps.length, options };
  }
  const message = `${path} has ${read} episodes, so there is no episode ${number}: they are counted from 0.`;
  throw new ToolEnvError('usage.no_episode', message);
}

/** The tokens of a policy say nothing of what a person writes after them. */
function withoutTokens({ text, toolCalls, stopReason }: Action): Action {
  return { text, toolCalls, stopReason };
}
