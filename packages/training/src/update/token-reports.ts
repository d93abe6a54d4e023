/** TokenReports: what an update says of each sampled token, by episode and turn. */
import type { TokenValues } from '@toolenv/core/learner';
import type { TokenReport } from '@toolenv/core/plugins';
import { groupBy } from '../rows/averages.ts';
import type { TrainingRow } from '../rows/training-row.ts';
import type { TokenQuantity } from '../trainer/algorithm.ts';

/** Enough for a colour, and half as long in a file. */
const digits = 4;

export class TokenReports {
  readonly #turns = new Map<string, TokenReport['turns']>();

  /**
   * Keeps a quantity of the tokens with mask 1. What is known of a token stays: the first pass over a row counts.
   * @param values [B][T] for the rows.
   */
  add(quantity: TokenQuantity, rows: readonly TrainingRow[], values: TokenValues): void {
    for (const [b, { trajectory, mask, turns }] of rows.entries()) {
      const { episodeId, steps } = trajectory;
      const reports = this.#turns.get(episodeId) ?? steps.map((): TokenReport['turns'][number] => ({}));
      this.#turns.set(episodeId, reports);
      const generated = [...mask.keys()].filter((t) => mask[t] === 1);
      // All tokens of a turn are in one row.
      for (const [turn, ofTurn] of groupBy(generated, (t) => turns[t]!))
        reports[turn]![quantity] ??= ofTurn.map((t) => Number(values[b]![t]!.toPrecision(digits)));
    }
  }

  /** The reports since the last call. */
  take(): TokenReport[] {
    const reports = [...this.#turns].map(([episodeId, turns]) => ({ episodeId, turns }));
    this.#turns.clear();
    return reports;
  }
}
