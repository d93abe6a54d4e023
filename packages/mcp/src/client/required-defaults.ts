/**
 * Required properties with a default: libraries such as zod list them as required, although servers fill them in. So the schema that a
 * policy sees does not require them, and a call gets them before it is sent, because some servers check their own list.
 */
import type { JsonSchema } from '@toolenv/core';
import { isObject } from '@toolenv/core/schemas';

/** The schema, without requiring properties that have a default. The same object if it requires none. */
export function withoutDefaulted(schema: JsonSchema): JsonSchema {
  const { properties, items, required } = schema as Parts;
  const changes: Record<string, unknown> = {};
  if (isObject(properties)) {
    const inner = mapped(properties, (property) =>
      isObject(property) ? withoutDefaulted(property) : property,
    );
    if (inner !== properties) changes.properties = inner;
  }
  if (isObject(items) && withoutDefaulted(items) !== items) changes.items = withoutDefaulted(items);
  const defaulted = new Set(defaultedOf(schema));
  if (defaulted.size > 0) changes.required = required!.filter((name) => !defaulted.has(name));
  return Object.keys(changes).length > 0 ? { ...schema, ...changes } : schema;
}

/** The value, with the defaults of required properties that it lacks. The same object if it lacks none. */
export function withDefaults<Value>(schema: JsonSchema, value: Value): Value;
export function withDefaults(schema: JsonSchema, value: unknown): unknown {
  const { properties, items } = schema as Parts;
  if (Array.isArray(value)) {
    if (!isObject(items)) return value;
    const filled = value.map((item) => withDefaults(items, item));
    return filled.some((item, at) => item !== value[at]) ? filled : value;
  }
  if (!isObject(value) || !isObject(properties)) return value;
  const inner = mapped(value, (part, name) => {
    const property = Object.hasOwn(properties, name) ? properties[name] : undefined;
    return isObject(property) ? withDefaults(property, part) : part;
  });
  const missing = defaultedOf(schema).filter((name) => !Object.hasOwn(value, name));
  if (missing.length === 0) return inner;
  const defaults = missing.map((name) => [name, structuredClone((properties[name] as JsonSchema).default)]);
  return { ...inner, ...Object.fromEntries(defaults) };
}

interface Parts {
  properties?: unknown;
  items?: unknown;
  required?: string[];
}

function defaultedOf(schema: JsonSchema): string[] {
  const { properties, required } = schema as Parts;
  if (!Array.isArray(required) || !isObject(properties)) return [];
  return required.filter((name) => {
    const property = Object.hasOwn(properties, name) ? properties[name] : undefined;
    return isObject(property) && property.default !== undefined;
  });
}

/** The same object if no part changes. */
function mapped(
  object: Record<string, unknown>,
  change: (part: unknown, name: string) => unknown,
): Record<string, unknown> {
  const entries = Object.entries(object).map(([name, part]) => [name, change(part, name)] as const);
  return entries.some(([name, part]) => part !== object[name]) ? Object.fromEntries(entries) : object;
}
