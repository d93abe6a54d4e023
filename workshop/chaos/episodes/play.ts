/** Plays the episodes of some plans, all at once, and compares each trajectory with what went wrong. */
import { openEnv, rollout, type Trajectory } from '@toolenv/core';
import { type ChaoticLimits, type ChaoticTask, chaos } from './chaotic-env.ts';
import type { EpisodePlan } from './plan.ts';
import { verdict } from './verdict.ts';

export interface Played {
  /** Trajectories that the rollout yielded. */
  episodes: number;
  aborted: number;
  /** Episodes in which something went wrong. */
  faulty: number;
  seconds: number;
  /** Episodes that are not as they must be, episodes without a trajectory, and an error of the rollout itself. */
  wrong: string[];
}

export interface PlayLimits extends ChaoticLimits {
  /** Milliseconds until the rollout counts as hung and is left. */
  limit: number;
}

export async function play(
  plans: readonly EpisodePlan[],
  { toolTimeout, limit }: PlayLimits,
): Promise<Played> {
  const { env: definition, policy, injected } = chaos(plans, { toolTimeout });
  const env = await openEnv(definition);
  const trajectories = rollout({
    env,
    policy,
    episodes: plans.map((_plan, number) => ({ task: { number }, group: number, sample: 0 })),
    concurrency: plans.length,
    sampling: { maxTokens: 16, temperature: 0 },
    seed: 1,
    retries: 0,
    onBug: 'abort-episode',
    closeTimeout: 1000,
  });
  const judged = await judgeAll(trajectories as AsyncIterable<Trajectory<ChaoticTask>>, {
    count: plans.length,
    limit,
    judge(trajectory) {
      const { number } = trajectory.task;
      return verdict(trajectory, plans[number]!, injected.get(number) ?? []);
    },
  });
  return { ...judged, faulty: injected.size };
}

/**
 * Judges each trajectory of a rollout, whose groups count its episodes from 0.
 * @param plan `judge` says what is wrong with an episode; `end` runs after the last.
 */
export async function judgeAll<Task>(
  trajectories: AsyncIterable<Trajectory<Task>>,
  plan: {
    count: number;
    limit: number;
    judge(trajectory: Trajectory<Task>): string | undefined;
    end?(): Promise<void>;
  },
): Promise<Omit<Played, 'faulty'>> {
  const { count, limit, judge, end } = plan;
  const started = performance.now();
  const seen = new Set<number>();
  const wrong: string[] = [];
  let aborted = 0;
  const failure = await withinLimit(limit, async () => {
    for await (const trajectory of trajectories) {
      const { group, outcome } = trajectory;
      if (seen.has(group)) wrong.push(`episode ${group} ended twice`);
      seen.add(group);
      if (outcome.kind === 'aborted') aborted += 1;
      const what = judge(trajectory);
      if (what) wrong.push(`episode ${group} ${what}`);
    }
    await end?.();
  });
  if (failure !== undefined) wrong.unshift(failure);
  if (seen.size < count) wrong.push(`${count - seen.size} episodes have no trajectory`);
  return { episodes: seen.size, aborted, seconds: (performance.now() - started) / 1000, wrong };
}

/** Why the work failed, if it did. Work that takes too long is left running. */
async function withinLimit(limit: number, work: () => Promise<void>): Promise<string | undefined> {
  let timer: ReturnType<typeof setTimeout>;
  const late = new Promise<string>((resolve) => {
    timer = setTimeout(() => resolve(`the rollout hangs: it did not end within ${limit / 1000} s`), limit);
  });
  const done = work().then(
    () => undefined,
    (error: unknown) => `the rollout threw: ${String(error)}`,
  );
  return Promise.race([done, late]).finally(() => clearTimeout(timer));
}
