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
      description:
        'dollars that the policies may cost; their prices are in the file of --prices, or in flags such as --input-price',
    },
    budgetTokens: {
      type: 'integer',
      minimum: 1,
      description: 'tokens that the policies may read and write',
    },
  },
} as const;

/** What is spent is at most the calls in flight more than the budget. */
export class Budget {
  readonly #dollars: number | undefined;
  readonly #tokens: number | undefined;
  readonly #policies: { spent(): { tokens: number; cost: number } }[] = [];
  /** Set once no call may follow. */
  #ended: ToolEnvError | undefined;

  constructor({ budget, budgetTokens }: { budget?: number | undefined; budgetTokens?: number | undefined }) {
    this.#dollars = budget;
    this.#tokens = budgetTokens;
  }

  /**
   * The policy, whose calls are counted from now on; what it spent to open counts too. A call beyond the budget throws an error of
   * the code `usage.budget`, which ends rollouts.
   * @throws ToolEnvError `usage.budget` for dollars without a price.
   */
  watch(policy: PolicyHandle): Policy {
    if (this.#dollars === undefined && this.#tokens === undefined) return policy;
    if (this.#dollars !== undefined && policy.usage?.cost === undefined) {
      const remedy = policy.usage
        ? 'name its model in the file of --prices, give --input-price and --output-price, or give --budget-tokens'
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
    const account = { spent };
    this.#policies.push(account);
    return {
      spec: policy.spec,
      act: async (observation, options) => {
        this.#check();
        const action = await policy.act(observation, options);
        const { prompt, action: written } = action.tokens ?? { prompt: [], action: [] };
        own += prompt.length + written.length;
        const isCounted = policy.usage ? !policy.usage.uncountedReplies : action.tokens !== undefined;
        if (!isCounted) throw this.#end(uncountedError(policy.spec.name));
        return action;
      },
      endEpisode: (episodeId) => policy.endEpisode?.(episodeId),
      async close() {
        // Keeps the sum, and lets go of the policy.
        const sum = spent();
        account.spent = () => sum;
        await policy.close?.();
      },
    };
  }

  /**
   * The error of a command that ended: if the budget ended it, an error that says what is left.
   * @param left Says it, and names the remedy.
   */
  errorOf(error: unknown, left: () => string): unknown {
    if (error === undefined || error !== this.#ended) return error;
    return new ToolEnvError('infrastructure.budget', `${this.#ended.message}. ${left()}`);
  }

  #check(): void {
    const all = this.#policies.map(({ spent }) => spent());
    const tokens = all.reduce((sum, each) => sum + each.tokens, 0);
    const cost = all.reduce((sum, each) => sum + each.cost, 0);
    if (tokens >= (this.#tokens ?? Number.POSITIVE_INFINITY))
      throw this.#end(spentError(`${countText(this.#tokens!)} tokens`));
    if (cost >= (this.#dollars ?? Number.POSITIVE_INFINITY))
      throw this.#end(spentError(dollars(this.#dollars)));
  }

  /** @returns What ends the command: the first reason. */
  #end(reason: ToolEnvError): ToolEnvError {
    this.#ended ??= reason;
    return this.#ended;
  }
}

function spentError(budget: string): ToolEnvError {
  return new ToolEnvError('usage.budget', `The budget of ${budget} is spent`);
}

function uncountedError(policy: string): ToolEnvError {
  const why = `${policy} does not say how many tokens a reply has`;
  return new ToolEnvError('usage.budget', `${why}, so no budget can be kept`);
}
