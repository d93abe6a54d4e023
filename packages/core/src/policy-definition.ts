/** What a package publishes for a policy: one definition; the model is loaded once per run. */
import type { JsonSchema } from './json-schema.ts';
import type { Learner } from './learner.ts';
import type { Policy } from './policy.ts';

/** A policy that is open for a run. */
export interface OpenPolicy {
  policy: Policy;
  /** Trains the policy's weights; absent if they cannot be trained here. */
  learner?: Learner;
  close(): Promise<void>;
}

export interface PolicyDefinition<Options = Record<string, unknown>> {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of `options`, with defaults. */
  readonly options: JsonSchema;
  open(options: Options): Promise<OpenPolicy>;
}

export function definePolicy<Options>(definition: PolicyDefinition<Options>): PolicyDefinition<Options> {
  return definition;
}
