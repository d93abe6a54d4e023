/** Budget: what a command may spend on policies. It ends the command before a call that it cannot pay for. */
import { type Policy, ToolEnvError } from '@toolenv/core';
import type { PolicyHandle } from '@toolenv/core/plugins';
import { dollars } from '../display/comparison-table.ts';
import { countText } from '../display/number-text.ts';

/** The flags of {@link Budget}. */
export const budgetSchema = {
  type: 'object',
  properties: {
    budget: {
      type: 'number',
      exclusiveMinimum: 0,
      description: 'dollars that the policies may cost; their prices are flags, such as --input-price',
    },
    budgetTokens: {
      type: 'integer',
      minimum: 1,
      description: 'tokens that the policies may read and write',
    },
  },
} as const;

/** Aborts {@link signal} when it is spent, at most the calls in flight too late. */
export class Budget {
  readonly #dollars: number | undefined;
  readonly #tokens: number | undefined;
  readonly #policies: { spent(): { tokens: number; cost: number } }[] = [];
  readonly #ended = new AbortController();

  constructor({ budget, budgetTokens }: { budget?: number | undefined; budgetTokens?: number | undefined }) {
    this.#dollars = budget;
    this.#tokens = budgetTokens;
  }

  get signal(): AbortSignal {
    return this.#ended.signal;
  }

  /**
   * The policy, whose calls are counted from now on; what it spent to open counts too.
   * @throws ToolEnvError `usage.budget` for dollars without a price.
   */
  watch(policy: PolicyHandle): Policy {
    if (this.#dollars === undefined && this.#tokens === undefined) return policy;
    if (this.#dollars !== undefined && policy.usage?.cost === undefined) {
      const remedy = policy.usage
        ? 'give --input-price and --output-price, or --budget-tokens'
        : 'it computes here and costs nothing, so give --budget-tokens or leave it out';
      throw new ToolEnvError(
        'usage.budget',
        `--budget: no price of ${policy.spec.name} is known: ${remedy}.`,
      );
    }
    let own = 0;
    const spent = () => {
      const { inputTokens, outputTokens, cost = 0 } = policy.usage ?? { inputTokens: own, outputTokens: 0 };
      return { tokens: inputTokens + outputTokens, cost };
    };
    this.#policies.push({ spent });
    return {
      spec: policy.spec,
      act: async (observation, options) => {
        this.#check();
        const action = await policy.act(observation, options);
        const { prompt, action: written } = action.tokens ?? { prompt: [], action: [] };
        own += prompt.length + written.length;
        return action;
      },
      endEpisode: (episodeId) => policy.endEpisode?.(episodeId),
      close: async () => policy.close?.(),
    };
  }

  /** What is left of an evaluation that the budget ended. */
  leftError({
    finished,
    all,
    path,
  }: {
    finished: number;
    all: number;
    path: string | undefined;
  }): ToolEnvError {
    const { message } = this.#ended.signal.reason as ToolEnvError;
    const left = `${finished} of ${all} episodes are finished`;
    const remedy =
      path === undefined
        ? 'raise the budget; with --out, an evaluation can be resumed'
        : `they are in ${path}, and --resume plays the other ${all - finished}`;
    return new ToolEnvError('infrastructure.budget', `${message}. ${left}: ${remedy}.`);
  }

  #check(): void {
    const all = this.#policies.map(({ spent }) => spent());
    const tokens = all.reduce((sum, each) => sum + each.tokens, 0);
    const cost = all.reduce((sum, each) => sum + each.cost, 0);
    const { signal } = this.#ended;
    if (tokens >= (this.#tokens ?? Number.POSITIVE_INFINITY))
      this.#ended.abort(spentError(`${countText(this.#tokens!)} tokens`));
    else if (cost >= (this.#dollars ?? Number.POSITIVE_INFINITY))
      this.#ended.abort(spentError(dollars(this.#dollars)));
    signal.throwIfAborted();
  }
}

function spentError(budget: string): ToolEnvError {
  return new ToolEnvError('infrastructure.budget', `The budget of ${budget} is spent`);
}
