/** What a package publishes for a policy: one definition; the model is loaded once per run. */

import type { Learner } from '../protocol/learner.ts';
import type { Policy } from '../protocol/policy.ts';
import type { JsonSchema } from '../schemas/json-schema.ts';

/** A policy that is open for a run. */
export interface PolicyHandle {
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
  open(options: Options): Promise<PolicyHandle>;
}

export function definePolicy<Options>(definition: PolicyDefinition<Options>): PolicyDefinition<Options> {
  return definition;
}
