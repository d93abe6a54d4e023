/**
 * Nulls in place of absent fields. Arrow, and so Parquet and Hugging Face's datasets, gives all rows the same fields, and fills a row's missing
 * fields with null: also in the arguments of a call, which get those of all other tools.
 */
import type { JsonSchema } from '../protocol/json-schema.ts';
import { validate } from './json-schema.ts';
import { isObject } from './json-text.ts';

/**
 * The value without the properties that are null, at any depth. Items of lists stay.
 * @param except Names of properties that stay as they are.
 */
export function withoutNulls(value: unknown, ...except: string[]): unknown {
  if (Array.isArray(value)) return value.map((item) => withoutNulls(item, ...except));
  if (!isObject(value)) return value;
  return mapped(value, (part, name) =>
    part === null ? undefined : except.includes(name) ? part : withoutNulls(part, ...except),
  );
}

/**
 * The value without the properties that are null although the schema neither requires them nor lets them be null.
 * @param undeclared What becomes of the nulls of properties that the schema does not declare.
 */
export function withoutFilledNulls(
  schema: JsonSchema,
  value: unknown,
  undeclared: 'keep' | 'drop' = 'keep',
): unknown {
  if (Array.isArray(value)) {
    const { items } = schema;
    return isObject(items) ? value.map((item) => withoutFilledNulls(items, item, undeclared)) : value;
  }
  if (!isObject(value) || !isObject(schema.properties)) return value;
  const { properties, required, additionalProperties } = schema;
  const isRequired = (name: string) => Array.isArray(required) && required.includes(name);
  const drops = undeclared === 'drop' && (additionalProperties ?? false) === false;
  return mapped(value, (part, name) => {
    const declared = Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (declared === undefined) return drops ? (part === null ? undefined : withoutNulls(part)) : part;
    if (part !== null) return isObject(declared) ? withoutFilledNulls(declared, part, undeclared) : part;
    return isRequired(name) || allowsNull(declared) ? part : undefined;
  });
}

function allowsNull(schema: unknown): boolean {
  if (!isObject(schema)) return schema !== false;
  try {
    return validate(schema, null).length === 0;
  } catch {
    // It refers to the schema around it.
    return true;
  }
}

/** Leaves out what `change` makes undefined. */
function mapped(
  object: Record<string, unknown>,
  change: (part: unknown, name: string) => unknown,
): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(object).flatMap(([name, part]) => {
      const changed = change(part, name);
      return changed === undefined ? [] : [[name, changed]];
    }),
  );
}
