/** The limits of an episode: their defaults, and the options with which a run sets them. */
import type { EnvLimits } from '../protocol/env.ts';
import type { JsonSchema } from '../protocol/json-schema.ts';

export const defaultLimits: EnvLimits = {
  maxTurns: 10,
  maxCallsPerTurn: 8,
  toolTimeout: 60_000,
  maxToolCharacters: 16_384,
};

const descriptions: Readonly<Record<keyof EnvLimits, string>> = {
  maxTurns: 'turns of an episode',
  maxCallsPerTurn: 'tool calls that are run in one turn',
  toolTimeout: 'milliseconds that a tool call may take',
  maxToolCharacters: "characters of a tool's text that reach the model",
};

export const limitNames: readonly (keyof EnvLimits)[] = Object.keys(descriptions) as (keyof EnvLimits)[];

/** JSON Schemas of the limits as options, by name. */
export function limitOptions(limits: EnvLimits): Record<keyof EnvLimits, JsonSchema> {
  const schemas = limitNames.map((name) => {
    const schema = { type: 'integer', minimum: 1, default: limits[name], description: descriptions[name] };
    return [name, schema];
  });
  return Object.fromEntries(schemas);
}
