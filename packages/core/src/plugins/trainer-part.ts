/** TrainerPart: what a package publishes for a loss or an advantage estimator, which replaces the trainer's own. */
import type { JsonSchema } from '../protocol/json-schema.ts';

/** The kinds of plugins that are parts of trainers. */
export type PartKind = 'losses' | 'advantages';

/** Trainers know what else a part has: `defineLoss` and `defineAdvantage` of `@toolenv/training` make parts. */
export interface TrainerPart {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of an object: the part's own options, which become options of the trainer. */
  readonly options: JsonSchema;
}
