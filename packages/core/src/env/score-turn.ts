/** scoreTurn: the rewards of a turn: those that were given, and those of the reward functions. */
import { scoringFault } from '../boundary/machinery-fault.ts';
import type { Rewards } from '../protocol/reward.ts';
import type { ScoredReward } from './reward-declaration.ts';
import type { RunningEpisode } from './running-episode.ts';

/**
 * @param given Values that no reward function replaces.
 * @throws ToolEnvError `infrastructure.score_failed` for what a reward function asked in vain; what it throws at once is a bug.
 */
export function scoreTurn(
  rewards: Readonly<Record<string, ScoredReward<never>>>,
  given: Rewards,
  episode: RunningEpisode,
): Rewards | Promise<Rewards> {
  const isDue = (name: string) => {
    const { kind, score } = rewards[name]!;
    const isEarly = kind === 'outcome' && episode.outcome.kind === 'running';
    return score !== undefined && given[name] === undefined && !isEarly;
  };
  const due = Object.keys(rewards).filter(isDue);
  return due.length === 0 ? { ...given } : scoreAll(due, rewards, given, episode);
}

async function scoreAll(
  due: readonly string[],
  rewards: Readonly<Record<string, ScoredReward<never>>>,
  given: Rewards,
  episode: RunningEpisode,
): Promise<Rewards> {
  const scored = { ...given };
  for (const name of due) {
    // What fails at once is a bug. What fails later asked a judge or a database.
    const score = rewards[name]!.score!(episode as never);
    scored[name] = await (score instanceof Promise ? score.catch(failed(name, episode)) : score);
  }
  return scored;
}

/** Throws the fault behind a rejected score. */
function failed(component: string, { signal }: RunningEpisode): (error: unknown) => never {
  return (error) => {
    throw (signal.aborted ? undefined : scoringFault(component, error)) ?? error;
  };
}
