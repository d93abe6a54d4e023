/** Changes the defaults of an options schema. */
import type { JsonSchema } from '@toolenv/core';
import { completeOptions } from '@toolenv/core/plugins';

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
