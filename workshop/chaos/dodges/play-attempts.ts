/** Plays an episode for each attempt: the attempt, an ordinary use of the tools after it, and an answer that earns nothing. */
import { type OpenedEnv, playTask, type Scripted, type Trajectory } from '@toolenv/core';
import { atOnce } from '../../at-once.ts';

/** Where attempts are made. */
export interface Setting {
  name: string;
  attempts: Readonly<Record<string, string>>;
  /** Why no attempt can be made on this machine. */
  missing?: string | undefined;
  open(): Promise<OpenedEnv<unknown>>;
  script(attempt: string): readonly Scripted[];
}

/** Episodes at once. */
const lanes = 2;

export interface Played {
  scored: number;
  /** Attempts with another end than a score of 0. */
  wrong: string[];
  seconds: number;
}

/** @param every Plays each attempt whose number it divides. */
export async function playAttempts(setting: Setting, every: number): Promise<Played> {
  const started = performance.now();
  const attempts = Object.entries(setting.attempts).filter((_, number) => number % every === 0);
  const wrong: string[] = [];
  await using env = await setting.open();
  const task = await env.tasks.train!.get(0);
  const jobs = attempts.map(([name, attempt], number) => async () => {
    const mistake = notScored(await playTask(env, task, setting.script(attempt), { seed: number }));
    if (mistake !== undefined) wrong.push(`${name}: ${mistake}`);
  });
  await atOnce(lanes, jobs);
  const scored = attempts.length - wrong.length;
  return { scored, wrong, seconds: (performance.now() - started) / 1000 };
}

/** `undefined` for an episode that ended with the reward 0. */
function notScored({ outcome, reward }: Trajectory): string | undefined {
  if (outcome.kind === 'terminated' && reward === 0) return undefined;
  const cause = outcome.kind === 'aborted' ? ` by ${outcome.cause.code} ${outcome.cause.message}` : '';
  return `${outcome.kind}${cause}, with the reward ${reward}`;
}
