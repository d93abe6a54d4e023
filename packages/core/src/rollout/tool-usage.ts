/** What the tools of an episode have asked of models, such as a judge of its rewards. */
import type { ModelUsage } from '../protocol/tool.ts';
import type { Trajectory } from '../protocol/trajectory.ts';

/** The sum over all calls, those of the environment included. `undefined` if no tool has asked a model. */
export function toolUsage(trajectories: Iterable<Pick<Trajectory, 'steps'>>): ModelUsage | undefined {
  let total: ModelUsage | undefined;
  for (const { steps } of trajectories) {
    for (const { calls, environmentCalls = [] } of steps) {
      for (const { result } of [...calls, ...environmentCalls]) total = addUsage(total, result?.usage);
    }
  }
  return total;
}

export function addUsage(one: ModelUsage | undefined, other: ModelUsage | undefined): ModelUsage | undefined {
  if (!one || !other) return one ?? other;
  return {
    requests: one.requests + other.requests,
    inputTokens: one.inputTokens + other.inputTokens,
    outputTokens: one.outputTokens + other.outputTokens,
  };
}
