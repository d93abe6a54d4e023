/** Parts of a trainer that users define: losses and advantage estimators. Each is called to change its options' defaults. */
import type { JsonSchema } from '@toolenv/core';
import { completeOptions, type TrainerPart } from '@toolenv/core/plugins';

/** A part that can be called: `myLoss({ strength: 2 })` is the same loss with another default. */
export type ConfigurablePart<Part extends TrainerPart, Options> = Part &
  ((defaults?: Partial<Options>) => ConfigurablePart<Part, Options>);

/** The call throws ToolEnvError `usage.unknown_option` or `usage.bad_option`, naming the option. */
export function configurable<Part extends TrainerPart, Options>(part: Part): ConfigurablePart<Part, Options> {
  const configure = (defaults: Partial<Options> = {}) =>
    configurable<Part, Options>({
      ...part,
      options: withDefaults(part.options, { ...defaults }, part.name),
    });
  // Assignment cannot replace the name of a function.
  return Object.defineProperties(
    configure,
    Object.getOwnPropertyDescriptors(part),
  ) as unknown as ConfigurablePart<Part, Options>;
}

/** The schema of a part's options, complete. */
export function partOptions(options: JsonSchema | undefined): JsonSchema {
  return { properties: {}, ...options, type: 'object', additionalProperties: false };
}

/**
 * The schema with other defaults.
 * @param owner Names in errors whose options they are.
 * @throws ToolEnvError `usage.unknown_option` or `usage.bad_option`, naming the option.
 */
export function withDefaults(
  schema: JsonSchema,
  defaults: Record<string, unknown>,
  owner: string,
): JsonSchema {
  // Options that must be given may still come later.
  completeOptions({ ...schema, required: [] }, defaults, owner);
  const properties = schema.properties as Record<string, object>;
  const changed = Object.entries(defaults).filter(([, value]) => value !== undefined);
  const replaced = changed.map(([option, value]) => [option, { ...properties[option], default: value }]);
  return { ...schema, properties: { ...properties, ...Object.fromEntries(replaced) } };
}
