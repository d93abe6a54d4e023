/** GuardedEpisode: the loop's boundary to an environment and a policy. It bounds the time of each call and checks each result. */
import type { Action } from '../protocol/action.ts';
import type { Env, ResetOptions, Transition } from '../protocol/env.ts';
import { type ErrorCode, isInfrastructure, messageOf, ToolEnvError } from '../protocol/errors.ts';
import type { Observation } from '../protocol/message.ts';
import type { Policy, SamplingOptions } from '../protocol/policy.ts';
import type { Violation } from '../protocol/violation.ts';
import { boundAction } from './bound-call.ts';
import { checkAction } from './check-action.ts';
import { checkObservation } from './check-observation.ts';
import { checkTransition } from './check-transition.ts';
import { type Deadline, withinDeadline } from './deadline.ts';

export interface GuardedParts<Task> {
  env: Env<Task>;
  policy: Policy;
  /** Ends the episode: a call that waits rejects with its reason. */
  deadline: Deadline;
  /** Whether the environment's rules run elsewhere. Its faults are then faults of the infrastructure, and not of this program. */
  isRemote: boolean;
  /** Milliseconds that `release` may take. */
  closeTimeout: number;
}

/**
 * Tools have a boundary of their own, `dispatch`, which lies inside the environment.
 * @throws ToolEnvError for a broken rule, naming it: `bug.policy`; `bug.environment`, or `infrastructure.environment` from a
 *   remote environment.
 */
export class GuardedEpisode<Task> implements Pick<Env<Task>, 'reset' | 'step'>, Pick<Policy, 'act'> {
  readonly #parts: GuardedParts<Task>;

  constructor(parts: GuardedParts<Task>) {
    this.#parts = parts;
  }

  reset(options: ResetOptions<Task>): Promise<Observation> {
    const { env } = this.#parts;
    return this.#ask((signal) => env.reset({ ...options, signal }), checkObservation);
  }

  step(action: Action): Promise<Transition> {
    const { env } = this.#parts;
    return this.#ask(
      (signal) => env.step(action, { signal }),
      (given) => checkTransition(given, env.spec.rewards),
    );
  }

  async act(observation: Observation, options: SamplingOptions): Promise<Action> {
    const { policy, deadline } = this.#parts;
    const action = await deadline.race((signal) => policy.act(observation, { ...options, signal }));
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

  /** What the environment answers. */
  async #ask<Answer>(
    call: (signal: AbortSignal) => Promise<Answer>,
    check: (answer: Answer) => Violation | undefined,
  ): Promise<Answer> {
    const { env, deadline, isRemote } = this.#parts;
    try {
      const answer = await deadline.race(call);
      const wrong = check(answer);
      if (wrong) throw broken('bug.environment', env.spec.name, wrong);
      return answer;
    } catch (error) {
      if (!isRemote || deadline.signal.aborted || isInfrastructure(error)) throw error;
      throw new ToolEnvError('infrastructure.environment', messageOf(error), { cause: error });
    }
  }
}

function broken(code: ErrorCode, who: string, { rule, problem }: Violation): ToolEnvError {
  return new ToolEnvError(code, `${who} breaks ${rule}: ${problem}.`);
}
