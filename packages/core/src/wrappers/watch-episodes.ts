/** watchEpisodes: tells of each episode when it is over. */
import type { Env, Transition } from '../env.ts';
import type { Outcome } from '../outcome.ts';
import { type Rewards, sumRewards, weigh } from '../reward.ts';
import { type Wrappable, type Wrapped, withChanges, wrap } from './wrap.ts';

/** An episode in numbers. */
export interface EpisodeSummary {
  episodeId?: string;
  seed: number;
  /**
   * How it ended: `terminated:answered`, `truncated:max_turns`, `aborted:infrastructure.tool_failed`; `unfinished` if it
   * was left before its end, as when the loop's deadline passes or the policy's context is full.
   */
  end: string;
  /** Each component summed over the steps that scored it; `null` where none did and for an aborted episode. */
  rewards: Rewards;
  /** The weighted scalar; `null` for an aborted episode. */
  reward: number | null;
  /** Steps of the policy. */
  turns: number;
  /** Tool calls, mistaken ones included. */
  calls: number;
  /** Tool calls that were mistakes. */
  mistakes: number;
  /** Wall-clock time from reset to the end, the policy's included. */
  seconds: number;
}

/** The environment; `onEnd` is called with each episode that ended or was left, before the last step returns. */
export function watchEpisodes<Inner extends Wrappable>(
  env: Inner,
  onEnd: (summary: EpisodeSummary) => void | Promise<void>,
): Wrapped<Inner> {
  return wrap(env, (inner) => watched(inner, onEnd));
}

/** An episode while it runs. */
interface Watch {
  episodeId?: string;
  seed: number;
  start: number;
  steps: Transition[];
}

function watched(env: Env, onEnd: (summary: EpisodeSummary) => void | Promise<void>): Env {
  let watch: Watch | undefined;
  const finish = async (outcome: Outcome) => {
    const ended = watch;
    watch = undefined;
    if (ended) await onEnd(summarize(env, ended, outcome));
  };
  return withChanges(env, {
    async reset(options) {
      await finish({ kind: 'running' });
      const start = performance.now();
      const observation = await env.reset(options);
      watch = { episodeId: options.episodeId, seed: options.seed, start, steps: [] };
      return observation;
    },
    async step(action, options) {
      const transition = await env.step(action, options);
      watch?.steps.push(transition);
      if (transition.outcome.kind !== 'running') await finish(transition.outcome);
      return transition;
    },
    async close() {
      await finish({ kind: 'running' });
      await env.close();
    },
  });
}

function summarize(env: Env, { episodeId, seed, start, steps }: Watch, outcome: Outcome): EpisodeSummary {
  const { rewards: spec } = env.spec;
  const scored = outcome.kind !== 'aborted';
  const rewards = sumRewards(spec, scored ? steps : []);
  const calls = steps.flatMap((step) => step.calls);
  return {
    episodeId,
    seed,
    end: describeEnd(outcome),
    rewards,
    reward: scored ? weigh(spec, rewards) : null,
    turns: steps.length,
    calls: calls.length,
    mistakes: calls.filter(({ mistake }) => mistake !== undefined).length,
    seconds: (performance.now() - start) / 1000,
  };
}

function describeEnd(outcome: Outcome): string {
  if (outcome.kind === 'running') return 'unfinished';
  return `${outcome.kind}:${outcome.kind === 'aborted' ? outcome.cause.code : outcome.reason}`;
}
