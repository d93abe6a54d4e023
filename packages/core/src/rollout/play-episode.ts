/** One episode: the policy acts and the environment answers, until the environment ends it. */
import type { Env, ResetOptions } from '../protocol/env.ts';
import type { Observation } from '../protocol/message.ts';
import { type Outcome, running } from '../protocol/outcome.ts';
import type { Policy, RunSampling, SamplingOptions } from '../protocol/policy.ts';
import { deriveSeed } from '../protocol/rng.ts';
import type { TrajectoryStep } from '../protocol/trajectory.ts';

/** Appends each turn to `steps` as it happens, so that an episode that throws leaves its finished turns there. */
export async function playEpisode<Task>(
  env: Pick<Env<Task>, 'reset' | 'step'>,
  policy: Pick<Policy, 'act'>,
  { task, seed, episodeId }: ResetOptions<Task>,
  sampling: RunSampling,
  steps: TrajectoryStep[],
  fit: (observation: Observation) => Observation,
): Promise<Outcome> {
  let observation = fit(await env.reset({ task, seed, episodeId }));
  let outcome: Outcome = running;
  while (outcome.kind === 'running') {
    const turn = { episodeId, ...conversationTurn(observation, seed, steps) };
    const stop = [...(sampling.stop ?? []), ...(observation.stop ?? [])];
    const action = await policy.act(observation, { ...sampling, ...turn, ...(stop.length > 0 && { stop }) });
    const step: TrajectoryStep = { observation, action, calls: [], info: {} };
    steps.push(step);
    const { observation: next, outcome: ended, ...answer } = await env.step(action);
    Object.assign(step, answer);
    [observation, outcome] = [fit(next), ended];
  }
  return outcome;
}

/** Each conversation seeds its own turns, so that none depends on the order in which conversations take turns. */
function conversationTurn(
  { conversation }: Observation,
  seed: number,
  steps: readonly TrajectoryStep[],
): Pick<SamplingOptions, 'seed' | 'conversation'> {
  const taken = steps.filter((step) => step.observation.conversation === conversation).length;
  if (conversation === undefined) return { seed: deriveSeed(seed, 'act', taken) };
  return { seed: deriveSeed(seed, 'act', conversation, taken), conversation };
}
