/** GuardedEpisode: the loop's boundary. It bounds the time of each call of the environment and the policy, and checks the policy's actions. */
import type { Action } from '../protocol/action.ts';
import type { Env, ResetOptions, StepOptions, Transition } from '../protocol/env.ts';
import { ToolEnvError } from '../protocol/errors.ts';
import type { Observation } from '../protocol/message.ts';
import type { Policy, SamplingOptions } from '../protocol/policy.ts';
import { boundAction } from './bound-call.ts';
import { broken } from './broken-rule.ts';
import { checkAction } from './check-action.ts';
import { type Deadline, withinDeadline } from './deadline.ts';

export interface GuardedParts<Task> {
  /** An Env behind its own guard, `guardEnv`. */
  env: Env<Task>;
  policy: Policy;
  /** Ends the episode: a call that waits rejects with its reason. */
  deadline: Deadline;
  /** Milliseconds that `release` may take. */
  closeTimeout: number;
  onProgress?: StepOptions['onProgress'];
}

/**
 * Tools have a boundary of their own, `dispatch`, which lies inside the environment.
 * @throws ToolEnvError `bug.policy` for a broken rule, naming it.
 */
export class GuardedEpisode<Task> implements Pick<Env<Task>, 'reset' | 'step'>, Pick<Policy, 'act'> {
  readonly #parts: GuardedParts<Task>;

  constructor(parts: GuardedParts<Task>) {
    this.#parts = parts;
  }

  reset(options: ResetOptions<Task>): Promise<Observation> {
    const { env, deadline } = this.#parts;
    return deadline.race((signal) => env.reset({ ...options, signal }));
  }

  step(action: Action): Promise<Transition> {
    const { env, deadline, onProgress } = this.#parts;
    return deadline.race((signal) => env.step(action, { signal, ...(onProgress && { onProgress }) }));
  }

  async act(observation: Observation, options: SamplingOptions): Promise<Action> {
    const { policy, deadline } = this.#parts;
    // Lists of its own, as the policy may shorten them to fit its context.
    const shown = { ...observation, messages: [...observation.messages], tools: [...observation.tools] };
    const action = await deadline.race((signal) => policy.act(shown, { ...options, signal }));
    const wrong = checkAction(action);
    if (wrong) throw broken('bug.policy', `The policy ${policy.spec.name}`, wrong);
    return boundAction(action);
  }

  /**
   * Releases what the policy and the environment hold for the episode.
   * @throws ToolEnvError `infrastructure.close_timeout` if that takes too long (ENV-28, POL-9), and whatever `close` and
   *   `endEpisode` throw.
   */
  async release(episodeId: string): Promise<void> {
    const { env, policy, closeTimeout } = this.#parts;
    const end = async () => policy.endEpisode?.(episodeId);
    const inTime = (work: () => Promise<void>, what: string) => {
      const message = `${what} did not return within ${closeTimeout / 1000} s.`;
      const reason = () => new ToolEnvError('infrastructure.close_timeout', message);
      return withinDeadline({ after: closeTimeout, reason }, work);
    };
    const ended = inTime(end, `The policy's endEpisode() (POL-9)`);
    const closed = inTime(() => env.close(), `close() of ${env.spec.name} (ENV-28)`);
    // Both are tried, even if one fails.
    await Promise.allSettled([ended, closed]);
    await ended;
    await closed;
  }
}
