/** timeLimit: truncates episodes after a number of turns or after some time, as Gymnasium's TimeLimit does. */

import { Deadline } from '../boundary/deadline.ts';
import type { Env, Transition } from '../protocol/env.ts';
import { ToolEnvError } from '../protocol/errors.ts';
import type { Observation } from '../protocol/message.ts';
import { type TruncationReason, truncated } from '../protocol/outcome.ts';
import { scoreTruncation } from '../protocol/reward.ts';
import { type Wrappable, type Wrapped, withChanges, wrap } from './wrap.ts';

/** When an episode is truncated. */
export interface TimeLimit {
  /** Policy turns after which the episode is truncated('max_turns'). The environment's own limit still applies. */
  turns?: number;
  /**
   * Milliseconds after the call of reset, the policy's time included, after which the episode is truncated('deadline').
   * A running step is abandoned and its rewards are lost. The time depends on the machine and its load, so slow tools score 0; the
   * `deadline` of a rollout aborts slow episodes instead, which nothing learns from.
   */
  milliseconds?: number;
}

/**
 * Truncates an episode that is still running at the limit. Outcome components left unscored are then worth 0.
 * @throws ToolEnvError `usage.time_limit` if a limit is not above 0.
 */
export function timeLimit<Inner extends Wrappable>(env: Inner, limit: TimeLimit): Wrapped<Inner> {
  const { turns = Number.POSITIVE_INFINITY, milliseconds = Number.POSITIVE_INFINITY } = limit;
  if (!(turns >= 1) || !(milliseconds > 0)) {
    const message = `timeLimit: turns is ${limit.turns} and milliseconds is ${limit.milliseconds}: give numbers above 0.`;
    throw new ToolEnvError('usage.time_limit', message);
  }
  return wrap(env, (inner) => limited(inner, turns, milliseconds));
}

function limited(env: Env, turns: number, milliseconds: number): Env {
  const { limits, rewards } = env.spec;
  let turn = 0;
  let end = Number.POSITIVE_INFINITY;
  let seen: Observation | undefined;
  let cutShort = false;

  const cut = (transition: Omit<Transition, 'outcome'>, reason: TruncationReason): Transition => {
    cutShort = true;
    return {
      ...transition,
      rewards: scoreTruncation(rewards, transition.rewards ?? {}),
      outcome: truncated(reason),
    };
  };

  return withChanges(env, {
    spec: { ...env.spec, limits: { ...limits, maxTurns: Math.min(limits.maxTurns, turns) } },
    async reset(options) {
      const start = performance.now();
      seen = await env.reset(options);
      [turn, end, cutShort] = [0, start + milliseconds, false];
      return seen;
    },
    async step(action, options = {}) {
      if (cutShort) {
        throw new ToolEnvError('bug.step_after_end', 'step() after the end: call reset() for a new episode.');
      }
      const deadline = new Deadline({
        after: end - performance.now(),
        parent: options.signal,
        reason: () => new DOMException(`The episode took longer than ${milliseconds} ms.`, 'TimeoutError'),
      });
      try {
        const transition = await deadline.race((signal) => env.step(action, { ...options, signal }));
        turn += 1;
        seen = transition.observation;
        if (transition.outcome.kind !== 'running') return transition;
        if (turn >= turns) return cut(transition, 'max_turns');
        return performance.now() >= end ? cut(transition, 'deadline') : transition;
      } catch (error) {
        if (!deadline.passed || !seen) throw error;
        return cut({ observation: seen, calls: [], info: {} }, 'deadline');
      } finally {
        deadline.clear();
      }
    },
    async close() {
      cutShort = false;
      await env.close();
    },
  });
}
