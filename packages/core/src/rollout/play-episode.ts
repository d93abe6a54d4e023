/** One episode: the policy acts and the environment answers, until the environment ends it. */
import type { Env, ResetOptions } from '../protocol/env.ts';
import { type Outcome, running } from '../protocol/outcome.ts';
import type { Policy, SamplingOptions } from '../protocol/policy.ts';
import { deriveSeed } from '../protocol/rng.ts';
import type { TrajectoryStep } from '../protocol/trajectory.ts';

/** Appends each turn to `steps` as it happens, so that an episode that throws leaves its finished turns there. */
export async function playEpisode<Task>(
  env: Pick<Env<Task>, 'reset' | 'step'>,
  policy: Pick<Policy, 'act'>,
  { task, seed, episodeId }: ResetOptions<Task>,
  sampling: Omit<SamplingOptions, 'seed' | 'episodeId' | 'signal'>,
  steps: TrajectoryStep[],
): Promise<Outcome> {
  let observation = await env.reset({ task, seed, episodeId });
  let outcome: Outcome = running;
  while (outcome.kind === 'running') {
    const turnSeed = deriveSeed(seed, 'act', steps.length);
    const action = await policy.act(observation, { ...sampling, seed: turnSeed, episodeId });
    const step: TrajectoryStep = { observation, action, calls: [], info: {} };
    steps.push(step);
    const { observation: next, outcome: ended, ...answer } = await env.step(action);
    Object.assign(step, answer);
    [observation, outcome] = [next, ended];
  }
  return outcome;
}
