/** Fuzzes an environment: plays episodes of arbitrary actions, checks each answer, and shrinks counterexamples. */
import { setImmediate } from 'node:timers/promises';
import { type Action, deriveSeed, maxConcurrency, type Transition } from '@toolenv/core';
import fc, { type Arbitrary } from 'fast-check';
import type { RuleId } from '../rules.ts';
import { brief, Violation } from '../violation.ts';
import type { EnvSubject } from './env-subject.ts';
import { type FuzzKind, fuzzActions } from './fuzz-actions.ts';

/** Largest number of actions in an episode. */
export const maxFuzzLength = 24;
/** Episodes after which it is known whether an answer ends an episode. */
const learning = 20;
/** Episodes that are played at once. */
const lanes = 4;
/** Episodes between two looks at signals and timers, for which an environment without input and output leaves no time. */
const breath = 64;

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
  'ENV-38',
  'ENV-39',
  'WARN-1',
  'WARN-2',
  'WARN-6',
];

/**
 * Plays episodes until `count` actions have been taken. Reports a broken rule with the shortest episode found that breaks
 * it, then goes on fuzzing for the other rules.
 *
 * Beginning an episode may be slow, for example if it starts a server. So once it is known that answers end episodes, an
 * answer comes last only.
 */
export async function fuzzEnv(
  subject: EnvSubject,
  count: number,
  onActions: (count: number) => void = () => {},
): Promise<void> {
  const { tools } = await subject.withWatched((env) => env.reset(subject.task(0), 0));
  const { maxTurns, maxCallsPerTurn } = subject.open.episode().spec.limits;
  const maxCalls = Math.min(maxCallsPerTurn, 4) + 1;
  const longest = Math.min(maxFuzzLength, maxTurns);
  const fuzzer = new Fuzzer(subject, onActions);
  for (let round = 0; fuzzer.taken < count; round++) {
    const anything = fuzzActions(tools, { maxCalls });
    const kinds: FuzzKind[] = fuzzer.answersEnd ? ['calls'] : ['calls', 'answer'];
    const before = round === 0 ? anything : fuzzActions(tools, { maxCalls, kinds });
    const most = fc.array(before, { maxLength: longest - 1, size: 'max' });
    const actions = fc.tuple(most, anything).map(([first, last]) => [...first, last]);
    const plan = fc.record({ task: fc.nat(1000), actions });
    const wanted = Math.ceil((count - fuzzer.taken) / longest);
    const episodes = round === 0 ? Math.min(learning, wanted) : wanted;
    const found = await fuzzer.round(plan, episodes, deriveSeed(subject.seed, 'fuzz', round));
    for (const violation of found) subject.report.add(violation);
  }
}

interface Plan {
  task: number;
  actions: Action[];
}

/** What a lane looks for: while fast-check shrinks an episode, only the rule that it breaks. */
interface Search {
  found?: Violation;
}

class Fuzzer {
  readonly #subject: EnvSubject;
  readonly #onActions: (count: number) => void;
  /** Number of actions so far. */
  taken = 0;
  #episodes = 0;
  /** Whether answers were given, and each ended its episode. */
  answersEnd = false;
  #answersGoOn = false;

  constructor(subject: EnvSubject, onActions: (count: number) => void) {
    this.#subject = subject;
    this.#onActions = onActions;
  }

  /** Plays the episodes in lanes. Each lane ends at a broken rule that is not yet reported, with the shortest episode. */
  async round(plan: Arbitrary<Plan>, episodes: number, seed: number): Promise<Violation[]> {
    const { definition, report } = this.#subject;
    // Episodes that disturb each other would break other rules at random.
    const atOnce = report.broken('ENV-12') ? 1 : maxConcurrency(definition.capabilities);
    const width = Math.min(lanes, episodes, atOnce);
    const searches = Array.from({ length: width }, (_, lane) =>
      this.#lane(plan, Math.ceil(episodes / width), deriveSeed(seed, lane)),
    );
    return (await Promise.all(searches)).filter((found) => found !== undefined);
  }

  async #lane(plan: Arbitrary<Plan>, episodes: number, seed: number): Promise<Violation | undefined> {
    const search: Search = {};
    const property = fc.asyncProperty(plan, (episode) => this.#play(episode, search));
    const { failed, errorInstance } = await fc.check(property, { numRuns: episodes, seed: seed | 0 });
    if (failed && !search.found) throw errorInstance;
    return search.found;
  }

  async #play({ task, actions }: Plan, search: Search): Promise<void> {
    const { signal } = this.#subject;
    if (this.#episodes++ % breath === 0) await setImmediate();
    signal?.throwIfAborted();
    // A hang is not shrunk: each try would wait for the timeout.
    if (search.found?.rule === 'ENV-28') return;
    const env = this.#subject.watched((violation) => {
      if (this.#isNews(violation, search)) throw violation;
    });
    try {
      this.#learn(actions, await env.play(this.#subject.task(task), task, actions));
    } catch (error) {
      if (!(error instanceof Violation)) throw error;
      if (!this.#isNews(error, search)) return;
      search.found = withActions(error, actions);
      throw error;
    } finally {
      this.taken += Math.max(1, env.transcript.length - 1);
      this.#onActions(this.taken);
      await env.env.close().catch(() => {});
    }
  }

  #learn(actions: readonly Action[], transitions: readonly Transition[]): void {
    for (const [index, { outcome }] of transitions.entries()) {
      const { toolCalls, stopReason } = actions[index]!;
      if (toolCalls.length > 0 || stopReason === 'length') continue;
      if (outcome.kind === 'running') this.#answersGoOn = true;
      this.answersEnd = !this.#answersGoOn;
    }
  }

  #isNews({ rule }: Violation, { found }: Search): boolean {
    return found ? found.rule === rule : !this.#subject.report.settled(rule);
  }
}

function withActions({ rule, expected, received, hint }: Violation, actions: Action[]): Violation {
  const played = actions.map(({ text, toolCalls, stopReason }) =>
    toolCalls.length > 0 ? { text, toolCalls, stopReason } : { text, stopReason },
  );
  return new Violation(rule, expected, `${received}, after the actions ${brief(played)}`, hint);
}
