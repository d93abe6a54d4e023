/** TokenBudget: how many padded tokens run together, and what happens where memory is too small for them. */
import { ToolEnvError } from '@toolenv/core';
import type { TokenBatch } from '@toolenv/core/learner';
import type { PaddedBatch } from './padded-batch.ts';

const lack = 'infrastructure.out_of_memory';

export interface BudgetOptions {
  gradientCheckpointing: boolean;
  isAdapter: boolean;
  /** How a budget divides rows. */
  batchesOf(batch: TokenBatch, budget: number): readonly Pick<PaddedBatch, 'inputs'>[];
}

export class TokenBudget {
  /** Padded tokens of a batch at most, except for a longer row. */
  tokens: number;
  readonly #options: BudgetOptions;

  constructor(tokens: number, options: BudgetOptions) {
    this.tokens = tokens;
    this.#options = options;
  }

  /**
   * Runs an attempt. If its runtime lacks memory and goes on, the budget is halved from now on, and `again` runs, once.
   * @param batches What `again` runs.
   * @throws ToolEnvError `infrastructure.out_of_memory` with the remedies.
   */
  async within<Result>(
    batches: readonly TokenBatch[],
    attempt: () => Promise<Result>,
    again: () => Promise<Result> = attempt,
  ): Promise<Result> {
    try {
      return await attempt();
    } catch (error) {
      if (!isLack(error)) throw error;
      const largest = this.#largest(batches, this.tokens);
      const half = Math.floor(Math.min(this.tokens, largest) / 2);
      // Rows are not divided.
      if (half === 0 || this.#largest(batches, half) === largest) throw this.#withRemedies(error, largest);
      this.tokens = half;
      globalThis.process?.emitWarning?.(
        `${subjectOf(error)} in batches of ${largest} tokens: the step begins again, and goes on, with --token-budget ${half}.`,
        'OutOfMemory',
      );
      return this.explain(again, () => this.#largest(batches, half));
    }
  }

  /** Runs what smaller batches would not help, or what was tried with them. @throws ToolEnvError `infrastructure.out_of_memory` with the remedies. */
  async explain<Result>(attempt: () => Promise<Result>, largest?: () => number): Promise<Result> {
    try {
      return await attempt();
    } catch (error) {
      throw isLack(error) ? this.#withRemedies(error, largest?.()) : error;
    }
  }

  /** @param largest Tokens of the batch that was too large. Absent: the parameters are too many, whatever the batches. */
  #withRemedies(error: ToolEnvError, largest?: number): ToolEnvError {
    const { gradientCheckpointing, isAdapter } = this.#options;
    const fewer = isAdapter ? [] : ['--lora-rank 16'];
    const say = (message: string) =>
      new ToolEnvError(lack, `${subjectOf(error)}${message}.`, { cause: error });
    if (largest === undefined) return say(`: begin anew with ${inWords([...fewer, 'a smaller model'])}`);
    const smaller = Math.floor(Math.min(this.tokens, largest) / 2);
    const going = [
      ...(smaller > 0 ? [`--token-budget ${smaller}`] : []),
      ...(gradientCheckpointing ? [] : ['--gradient-checkpointing']),
    ];
    const resumed = going.length > 0 ? `give ${going.join(' or ')} and go on with --resume, or ` : '';
    const anew = inWords([...fewer, 'shorter episodes', 'a smaller model']);
    return say(`, even in batches of ${largest} tokens: ${resumed}begin anew with ${anew}`);
  }

  #largest(batches: readonly TokenBatch[], budget: number): number {
    const padded = batches.flatMap((batch) => this.#options.batchesOf(batch, budget));
    return Math.max(0, ...padded.map(({ inputs }) => inputs.tokens!.data.length));
  }
}

function isLack(error: unknown): error is ToolEnvError {
  return ToolEnvError.isInstance(error) && error.code === lack;
}

/** What lacks memory for what, without the runtime's own remedy. */
function subjectOf({ message }: ToolEnvError): string {
  return message.split(/: |\.$/)[0]!;
}

function inWords(things: readonly string[]): string {
  return [things.slice(0, -1).join(', '), things.at(-1)].filter(Boolean).join(' or ');
}
