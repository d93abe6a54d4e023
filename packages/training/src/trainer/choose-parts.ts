/** The parts of a trainer: a loss, an advantage estimator or a scorer is a name, a reference, or a value that the user passes. */
import { isDeepStrictEqual } from 'node:util';
import type { JsonSchema } from '@toolenv/core';
import { ToolEnvError } from '@toolenv/core';
import { loadPlugin, type PartKind, type Trainer, type TrainerPart } from '@toolenv/core/plugins';
import { didYouMean } from '@toolenv/core/schemas';
import { runOptions } from './run-options.ts';

/** What a part of each kind is called. */
export const partNouns: Readonly<Record<PartKind, string>> = {
  losses: 'a loss',
  advantages: 'an advantage estimator',
  scorers: 'a scorer',
};
const makers: Record<PartKind, string> = {
  losses: 'defineLoss of @toolenv/training',
  advantages: 'defineAdvantage of @toolenv/training',
  scorers: 'defineScorer of @toolenv/core/plugins',
};
const methods: Record<PartKind, string> = { losses: 'episode', advantages: 'estimate', scorers: 'begin' };

/** The property of an option that names a part. */
interface PartProperty {
  part: PartKind;
  /** The names that the trainer knows. */
  enum: readonly string[];
  default?: string;
  /** The name in `enum` that is a reference whose part is not loaded yet. */
  unloaded?: string;
}

/** The options of a schema that name parts. */
export function partProperties(schema: JsonSchema): [option: string, PartProperty][] {
  const properties = Object.entries((schema?.properties ?? {}) as Record<string, Partial<PartProperty>>);
  return properties.filter(([, { part }]) => part !== undefined) as [string, PartProperty][];
}

/** Whether an option's value is a part, and not the name of a part. */
export function isPart(value: unknown): value is TrainerPart {
  return typeof value === 'function' || (typeof value === 'object' && value !== null);
}

/**
 * The trainer with the parts that its options name: parts that it does not know are loaded by their references. The options
 * then have the names of the parts, so that they are JSON.
 * @throws ToolEnvError `usage.unknown_part`, and what `loadPlugin` and `withPart` throw.
 */
export async function chooseParts<Options>(
  trainer: Trainer<Options>,
  given: Record<string, unknown>,
): Promise<{ trainer: Trainer<Options>; options: Record<string, unknown> }> {
  let made = trainer;
  const options = { ...given };
  for (const [option, property] of partProperties(trainer?.options)) {
    const { part: kind, enum: names, default: fallback, unloaded } = property;
    const known = names.filter((name) => name !== unloaded);
    const value = given[option] ?? fallback;
    if (value === undefined || known.includes(value as string) || !made.withPart) continue;
    const part = isPart(value) ? value : await loadPart(kind, String(value), known);
    const name = isPart(value) ? value.name : String(value);
    made = made.withPart(option, part, name);
    options[option] = name;
  }
  return { trainer: made, options };
}

/** The schema with the references of parts among the values of their options. Parts are loaded when the run begins. */
export function withReferences(schema: JsonSchema, given: Record<string, unknown>): JsonSchema {
  const properties = { ...(schema.properties as Record<string, object>) };
  for (const [option, property] of partProperties(schema)) {
    const value = given[option];
    if (typeof value !== 'string' || !value.includes('/') || property.enum.includes(value)) continue;
    properties[option] = { ...property, enum: [...property.enum, value], unloaded: value };
  }
  return { ...schema, properties };
}

/** @throws ToolEnvError `usage.unknown_part` for a text that is neither a known name nor a reference. */
async function loadPart(kind: PartKind, name: string, known: readonly string[]): Promise<TrainerPart> {
  if (name.includes('/')) return loadPlugin(kind, name);
  const hint = didYouMean(name, [...known], 'Known');
  const message = `"${name}" is not ${partNouns[kind]}. ${hint} Others are references, such as <package>/<name>-v1.`;
  throw new ToolEnvError('usage.unknown_part', message);
}

/**
 * The schema of a trainer that has this part: its name is one of the option's values, and the default, and its options are options.
 * Throws as `Trainer.withPart` does.
 */
export function schemaWithPart(
  schema: JsonSchema,
  { option, part, name, owner }: { option: string; part: TrainerPart; name: string; owner: string },
): JsonSchema {
  const properties = schema.properties as Record<string, JsonSchema>;
  const { unloaded: _, ...property } = properties[option] as unknown as PartProperty;
  const { part: kind, enum: known } = property;
  const { options } = Object(part) as Partial<TrainerPart>;
  if (typeof Object(part)[methods[kind]] !== 'function' || typeof Object(options) !== 'object') {
    const message = `${owner}: option "${option}": ${name} is not ${partNouns[kind]}: make it with ${makers[kind]}.`;
    throw new ToolEnvError('usage.bad_plugin', message);
  }
  const own = (options?.properties ?? {}) as Record<string, JsonSchema>;
  const taken = Object.keys(own).find(
    (each) =>
      Object.hasOwn(runOptions, each) ||
      (Object.hasOwn(properties, each) && !isSameOption(own[each]!, properties[each]!)),
  );
  if (taken !== undefined) {
    const message = `Option "${taken}" of ${name} is already another option of ${owner}: rename the option of ${name}.`;
    throw new ToolEnvError('usage.bad_option', message);
  }
  const chosen = { ...property, enum: [...new Set([...known, name])], default: name };
  return {
    ...schema,
    properties: { ...properties, ...own, [option]: chosen },
    ...(options?.required !== undefined && {
      required: [...((schema.required as string[]) ?? []), ...(options.required as string[])],
    }),
  };
}

/** Whether two options take the same values, whatever their defaults and descriptions. */
function isSameOption(one: JsonSchema, other: JsonSchema): boolean {
  const bare = ({ default: _, description: __, ...rest }: JsonSchema) => rest;
  return isDeepStrictEqual(bare(one), bare(other));
}
