/** checkPolicy: checks a policy against the POL rules of the spec. */
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type Action,
  type Observation,
  type Policy,
  parsedCalls,
  type SamplingOptions,
  ToolEnvError,
} from '@toolenv/core';
import { validate, wireSchemas } from '@toolenv/core/schemas';
import { checkEncode } from './check-encode.ts';
import { answered, withTimeout } from './in-time.ts';
import { notJson } from './json-value.ts';
import { outputTolerance, signTolerance } from './learner/token-rows.ts';
import { type CheckOptions, type Report, Reporter } from './report.ts';
import type { RuleId } from './rules.ts';
import { brief, Violation } from './violation.ts';

export interface CheckPolicyOptions extends CheckOptions {
  /** Observations to act on. Default: a question, with and without a tool. */
  observations?: readonly Observation[];
  /** Largest number of tokens in an action. Default 24. */
  maxTokens?: number;
  /** Default 1. */
  seed?: number;
  /** Milliseconds that an action may take at most. Default 60,000. */
  timeout?: number;
}

/** Milliseconds in which an action must settle once its signal aborts. */
const grace = 2000;
/** The check for overflow fills the context; longer contexts are not checked. */
const maxContextLength = 1_000_000;

const question: Observation = {
  messages: [
    { role: 'system', content: 'Answer the question.' },
    { role: 'user', content: 'Where is the river?' },
  ],
  tools: [],
};
const withTool: Observation = {
  ...question,
  tools: [
    {
      name: 'search',
      description: 'Find documents.',
      inputSchema: { type: 'object', properties: { query: { type: 'string' } }, required: ['query'] },
    },
  ],
};

/** Asks the policy for actions, one by one and concurrently, and reports the rules that it breaks. Does not close the policy. */
export async function checkPolicy(policy: Policy, options: CheckPolicyOptions = {}): Promise<Report> {
  const { observations = [question, withTool], maxTokens = 24, seed = 1, timeout = 60_000 } = options;
  const report = new Reporter(`policy ${policy.spec?.name}`, 'POL', options);
  await report.check(['POL-1'], () => checkSpec(policy));
  if (!report.report.ok) return report.report;
  const asker = new Asker({ policy, report, observations, maxTokens, seed, timeout });
  await report.check(['POL-2', 'POL-3', 'POL-4', 'POL-11'], () => asker.acts());
  if (!report.report.ok) return report.report;
  await report.check(['POL-5'], () => asker.actsAgain(), report.wants('POL-6', 'POL-9'));
  // Without equal actions for equal seeds, there is nothing to compare.
  const seeded = !report.settled('POL-5');
  if (seeded) await report.check(['POL-6'], () => asker.actsAtOnce());
  await asker.overflows();
  await report.check(['POL-8'], () => asker.isCancelled());
  if (seeded) await report.check(['POL-9'], () => asker.forgets());
  else report.skip(['POL-6', 'POL-9'], 'POL-5 is broken or left out');
  await report.check(['POL-10'], () => asker.isGreedy());
  await checkEncode(policy, report, observations, (observation) => asker.prompt('POL-13', observation));
  await asker.tellsOfTools();
  return report.report;
}

function checkSpec({ spec }: Policy): void {
  const { name, contextLength } = spec ?? {};
  if (typeof name !== 'string' || name === '') throw new Violation('POL-1', 'a name', brief(name));
  if (Number.isInteger(contextLength) && contextLength > 0) return;
  throw new Violation('POL-1', 'a whole contextLength above 0', brief(contextLength));
}

interface Settings extends Required<Omit<CheckPolicyOptions, keyof CheckOptions>> {
  policy: Policy;
  report: Reporter;
}

class Asker {
  readonly #of: Settings;

  constructor(settings: Settings) {
    this.#of = settings;
  }

  /** The action for observation `index` modulo their number, in an episode of its own. */
  async act(rule: RuleId, index: number, options: Partial<SamplingOptions> = {}): Promise<Action> {
    const { policy, report, observations, maxTokens, seed, timeout } = this.#of;
    const observation = observations[index % observations.length]!;
    const given = structuredClone(observation);
    const episodeId = `check-${rule}-${index}`;
    const sampling = { maxTokens, temperature: 1, seed: seed + index, episodeId, ...options };
    const action = await answered(rule, 'an action', timeout, () => policy.act(given, sampling));
    policy.endEpisode?.(sampling.episodeId);
    const expected = `the observation left as it was: ${brief(observation)}`;
    if (JSON.stringify(given) !== JSON.stringify(observation))
      report.add(new Violation('POL-11', expected, brief(given)));
    return action;
  }

  /** All observations, with the usual `maxTokens` and with 1. */
  async acts(): Promise<void> {
    const { observations, maxTokens, policy } = this.#of;
    for (const index of observations.keys()) {
      for (const limit of [maxTokens, 1]) {
        const action = await this.act('POL-2', index, { maxTokens: limit });
        checkAction(action);
        checkTokens(action, limit, policy.spec.contextLength);
      }
    }
  }

  /** The prompt of an action on an observation; `undefined` if the policy shows no tokens. */
  async prompt(rule: RuleId, observation: Observation): Promise<Int32Array | undefined> {
    const { policy, timeout, seed } = this.#of;
    const sampling = { maxTokens: 1, temperature: 1, seed };
    const action = await answered(rule, 'an action', timeout, () => policy.act(observation, sampling));
    return action.tokens?.prompt;
  }

  async tellsOfTools(): Promise<void> {
    const { policy, report, observations } = this.#of;
    const { vocabulary, spec } = policy;
    if (spec.capabilities?.knownTools) {
      report.skip(['POL-14'], 'the policy declares that it knows its tools');
      return;
    }
    if (!vocabulary) {
      report.skip(['POL-14'], 'the policy shows no texts of tokens');
      return;
    }
    await report.check(['POL-14'], async () => {
      for (const observation of observations.filter(({ tools }) => tools.length > 0)) {
        const prompt = await this.prompt('POL-14', observation);
        if (!prompt) return;
        // Vocabularies write letters and digits as they are, and a name may be several tokens.
        const text = Array.from(prompt, (token) => vocabulary.get(token) ?? '').join('');
        const missing = observation.tools.find(({ name }) => /^[\w-]+$/.test(name) && !text.includes(name));
        if (missing)
          throw new Violation('POL-14', `the name "${missing.name}" in the prompt`, 'a prompt without it');
      }
    });
  }

  async actsAgain(): Promise<void> {
    for (const index of this.#of.observations.keys()) {
      const [first, second] = [await this.act('POL-5', index), await this.act('POL-5', index)];
      expectSame('POL-5', 'the same action for the same seed', first, second);
    }
  }

  async actsAtOnce(): Promise<void> {
    const indices = Array.from({ length: 8 }, (_, i) => i);
    const alone: Action[] = [];
    for (const index of indices) alone.push(await this.act('POL-6', index));
    const together = await Promise.all(indices.map((index) => this.act('POL-6', index)));
    for (const index of indices) {
      expectSame('POL-6', 'the same action concurrently as alone', alone[index]!, together[index]!);
    }
  }

  async overflows(): Promise<void> {
    const { policy, report, timeout } = this.#of;
    const { contextLength } = policy.spec;
    if (contextLength > maxContextLength) {
      report.skip(['POL-7'], `contextLength is above ${maxContextLength}`);
      return;
    }
    await report.check(['POL-7'], async () => {
      const content = 'a 1 '.repeat(contextLength);
      const full: Observation = { messages: [{ role: 'user', content }], tools: [] };
      const expected = `"context.overflow" for a message of ${content.length} characters`;
      const error = await answered('POL-7', expected, timeout, () =>
        policy.act(full, { maxTokens: 1, temperature: 0, seed: 1 }).then(brief, (thrown: unknown) => thrown),
      );
      if (ToolEnvError.isInstance(error) && error.code.startsWith('context.')) return;
      throw new Violation('POL-7', expected, brief(error));
    });
  }

  async isCancelled(): Promise<void> {
    const { policy, observations, timeout, maxTokens } = this.#of;
    const limit = Math.min(grace, timeout);
    for (const delay of [0, 5]) {
      const reason = new Error('cancelled by the check');
      const controller = new AbortController();
      if (delay === 0) controller.abort(reason);
      const { signal } = controller;
      const sampling = { maxTokens, temperature: 1, seed: 1, episodeId: 'cancelled', signal };
      const acting = (async () => policy.act(observations[0]!, sampling))();
      const settled = acting.then(brief, (error: unknown) => error);
      await sleep(delay);
      controller.abort(reason);
      const expected = 'act() to settle once its signal aborts';
      const received = await withTimeout('POL-8', expected, limit, () => settled);
      policy.endEpisode?.('cancelled');
      // An action that was cancelled later may have been finished already.
      if (delay === 0 ? received === reason : received === reason || typeof received === 'string') continue;
      throw new Violation('POL-8', "act() to reject with the signal's reason", brief(received));
    }
  }

  async forgets(): Promise<void> {
    const { policy, observations, maxTokens, seed, timeout } = this.#of;
    const expected = 'endEpisode() to do nothing for an unknown episode';
    const act = (): Promise<Action> =>
      answered('POL-9', 'an action', timeout, () =>
        policy.act(observations[0]!, { maxTokens, temperature: 1, seed, episodeId: 'forgotten' }),
      );
    const forget = (): void => {
      try {
        policy.endEpisode?.('forgotten');
      } catch (error) {
        throw new Violation('POL-9', expected, brief(error));
      }
    };
    forget();
    const first = await act();
    forget();
    forget();
    expectSame('POL-9', 'the same action for a reused episode id after endEpisode()', first, await act());
    forget();
  }

  async isGreedy(): Promise<void> {
    const { seed } = this.#of;
    const [first, second] = [
      await this.act('POL-10', 0, { temperature: 0, seed }),
      await this.act('POL-10', 0, { temperature: 0, seed: seed + 1 }),
    ];
    expectSame('POL-10', 'the same action for every seed at temperature 0', first, second);
  }
}

function checkAction(action: Action): void {
  const { tokens, ...rest } = action ?? {};
  const unheld = notJson(rest);
  if (unheld) throw new Violation('POL-2', 'an action that JSON can hold, apart from its tokens', unheld);
  const wrong = validate(wireSchemas.action, rest)[0];
  if (wrong) throw new Violation('POL-2', `${wrong.path || 'the action'} ${wrong.expected}`, wrong.received);
  const ids = parsedCalls(rest).map(({ id }) => id);
  if (new Set(ids).size < ids.length) throw new Violation('POL-2', 'calls with distinct ids', brief(ids));
}

function checkTokens({ tokens, stopReason }: Action, maxTokens: number, contextLength: number): void {
  if (!tokens) return;
  const { prompt, action, logprobs } = tokens;
  const arrays =
    prompt instanceof Int32Array && action instanceof Int32Array && logprobs instanceof Float32Array;
  if (!arrays) throw new Violation('POL-3', 'Int32Array, Int32Array and Float32Array', 'other types');
  if (prompt.length === 0 || action.length === 0 || action.length !== logprobs.length) {
    const received = `${prompt.length} prompt tokens, ${action.length} action tokens, ${logprobs.length} logprobs`;
    throw new Violation('POL-3', 'a prompt, and as many logprobs as action tokens', received);
  }
  const strange = logprobs.find((logprob) => !(Number.isFinite(logprob) && logprob <= signTolerance));
  if (strange !== undefined) throw new Violation('POL-3', 'finite log-probabilities ≤ 0', String(strange));
  if (action.length > maxTokens || prompt.length + action.length > contextLength) {
    const received = `${prompt.length} + ${action.length} tokens, stopReason "${stopReason}"`;
    throw new Violation(
      'POL-4',
      `${maxTokens} tokens at most, within a context of ${contextLength}`,
      received,
    );
  }
}

/** Expects the same text and tokens, and the same log-probabilities up to rounding. */
function expectSame(rule: RuleId, what: string, expected: Action, received: Action): void {
  const [left, right] = [expected, received].map(({ tokens, usage, ...rest }) =>
    JSON.stringify({ ...rest, tokens: tokens && [...tokens.action] }),
  );
  if (left !== right) throw new Violation(rule, `${what}: ${brief(left)}`, brief(right));
  const [a, b] = [expected.tokens?.logprobs ?? [], received.tokens?.logprobs ?? []];
  const differs = a.findIndex((value: number, i: number) => Math.abs(value - b[i]!) > outputTolerance);
  if (differs < 0) return;
  throw new Violation(rule, `${what}: logprob ${a[differs]} of token ${differs}`, `${b[differs]}`);
}
