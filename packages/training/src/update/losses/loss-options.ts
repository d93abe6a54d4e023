/** The options that choose a policy loss, and those of the built-in losses. A trainer spreads them into its own properties. */
import type { TrainerPart } from '@toolenv/core/plugins';
import type { Loss } from './define-loss.ts';
import type { Clipping } from './losses.ts';
import { losses } from './losses.ts';

/** The property of an option, in the schema of a trainer's options. */
export interface OptionSchema {
  readonly description: string;
  readonly [keyword: string]: unknown;
}

export const lossOptions: Readonly<Record<string, OptionSchema>> = {
  loss: {
    enum: Object.keys(losses),
    part: 'losses',
    description: 'policy loss: a name, or the reference or file of a loss',
  },
  ...optionsOfParts(losses),
};

export interface LossOptions extends Partial<Clipping> {
  /** A name, a reference, or a loss. Its options are given next to it. */
  loss?: string | Loss;
  ratioCap?: number;
  sapoTemperatures?: readonly number[];
  vespoPositive?: readonly number[];
  vespoNegative?: readonly number[];
}

/** The options of all of these parts. */
export function optionsOfParts(parts: Readonly<Record<string, TrainerPart>>): Record<string, OptionSchema> {
  return Object.assign({}, ...Object.values(parts).map(({ options }) => options.properties));
}
