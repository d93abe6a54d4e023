/** Fuzzes an environment: plays episodes of arbitrary actions, checks each answer, and shrinks counterexamples. */
import type { Action } from '@toolenv/core';
import { deriveSeed } from '@toolenv/core';
import fc, { type Arbitrary } from 'fast-check';
import type { RuleId } from '../rules.ts';
import { brief, Violation } from '../violation.ts';
import type { EnvSubject } from './env-subject.ts';
import { fuzzActions } from './fuzz-actions.ts';
import { WatchedEnv } from './watched-env.ts';

/** Largest number of actions in an episode. */
const longest = 12;

/** Rules and warnings that every action is checked against. */
export const fuzzRules: readonly RuleId[] = [
  'ENV-13',
  'ENV-14',
  'ENV-16',
  'ENV-17',
  'ENV-18',
  'ENV-19',
  'ENV-20',
  'ENV-21',
  'ENV-22',
  'ENV-23',
  'ENV-24',
  'ENV-25',
  'ENV-26',
  'ENV-27',
  'ENV-28',
  'ENV-35',
  'ENV-37',
  'WARN-1',
  'WARN-2',
];

/**
 * Plays episodes until `count` actions have been taken. Reports a broken rule with the shortest episode found that breaks
 * it, then goes on fuzzing for the other rules.
 * @returns The number of actions taken.
 */
export async function fuzzEnv(
  subject: EnvSubject,
  count: number,
  onActions: (count: number) => void = () => {},
): Promise<number> {
  const { tools } = await subject.withWatched((env) => env.reset(subject.task(0), 0));
  const { maxCallsPerTurn } = subject.definition.limits;
  const action = fuzzActions(tools, { maxCalls: Math.min(maxCallsPerTurn, 4) + 1 });
  const fuzzer = new Fuzzer(subject, onActions);
  for (let round = 0; fuzzer.taken < count; round++) {
    const episodes = Math.ceil((count - fuzzer.taken) / longest);
    const found = await fuzzer.round(action, episodes, deriveSeed(subject.seed, 'fuzz', round));
    if (found) subject.report.add(found);
  }
  return fuzzer.taken;
}

class Fuzzer {
  readonly #subject: EnvSubject;
  readonly #onActions: (count: number) => void;
  /** Number of actions so far. */
  taken = 0;
  #found: Violation | undefined;

  constructor(subject: EnvSubject, onActions: (count: number) => void) {
    this.#subject = subject;
    this.#onActions = onActions;
  }

  /** The first broken rule that is not yet reported, with the shortest episode that fast-check finds. */
  async round(action: Arbitrary<Action>, episodes: number, seed: number): Promise<Violation | undefined> {
    this.#found = undefined;
    const plan = fc.record({
      task: fc.nat(1000),
      actions: fc.array(action, { minLength: 1, maxLength: longest, size: 'max' }),
    });
    const property = fc.asyncProperty(plan, ({ task, actions }) => this.#play(task, actions));
    const { failed, errorInstance } = await fc.check(property, { numRuns: episodes, seed: seed | 0 });
    if (failed && !this.#found) throw errorInstance;
    return this.#found;
  }

  async #play(task: number, actions: Action[]): Promise<void> {
    const { open, timeout, signal, onEnd } = this.#subject;
    signal?.throwIfAborted();
    // A hang is not shrunk: each try would wait for the timeout.
    if (this.#found?.rule === 'ENV-28') return;
    const onViolation = (violation: Violation) => {
      if (this.#isNews(violation)) throw violation;
    };
    const env = new WatchedEnv(open.episode(), { timeout, onViolation, onEnd });
    try {
      await env.play(this.#subject.task(task), task, actions);
    } catch (error) {
      if (!(error instanceof Violation)) throw error;
      if (!this.#isNews(error)) return;
      this.#found = withActions(error, actions);
      throw error;
    } finally {
      this.taken += Math.max(1, env.transcript.length - 1);
      this.#onActions(this.taken);
      await env.env.close().catch(() => {});
    }
  }

  /** While fast-check shrinks an episode, only the rule that it breaks counts. */
  #isNews({ rule }: Violation): boolean {
    return this.#found ? this.#found.rule === rule : !this.#subject.report.settled(rule);
  }
}

function withActions({ rule, expected, received }: Violation, actions: Action[]): Violation {
  const played = actions.map(({ text, toolCalls, stopReason }) =>
    toolCalls.length > 0 ? { text, toolCalls, stopReason } : { text, stopReason },
  );
  return new Violation(rule, expected, `${received}, after the actions ${brief(played)}`);
}
