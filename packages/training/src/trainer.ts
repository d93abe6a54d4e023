import type { Trainer } from '@toolenv/core/plugins';

export function defineTrainer<Options>(trainer: Trainer<Options>): Trainer<Options> {
  return trainer;
}
