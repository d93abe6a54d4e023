/** typedTexts: the values of a row of texts, such as one of a CSV file, in the types that a schema wants. */
import type { JsonSchema } from '@toolenv/core';

/** A text that is no number, or that a number cannot hold exactly, stays, so that the schema refuses it with its value. */
export function typedTexts(row: object, schema: JsonSchema): object {
  const properties = Object(schema.properties) as Readonly<Record<string, JsonSchema>>;
  return Object.fromEntries(
    Object.entries(row).flatMap(([name, text]) => {
      const wanted = Object.hasOwn(properties, name) ? properties[name] : undefined;
      const value = typeof text === 'string' ? typed(text, Object(wanted)) : text;
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

function typed(text: string, { type, enum: choices }: { type?: unknown; enum?: unknown }): unknown {
  const types: unknown[] = [type ?? []].flat();
  if (type === undefined && Array.isArray(choices))
    return choices.includes(text) ? text : (choices.find((choice) => String(choice) === text) ?? text);
  if (types.length === 0 || types.includes('string')) return text;
  const bare = text.trim();
  if (bare === '') return types.includes('null') ? null : undefined;
  if (types.includes('boolean') && /^(true|false)$/i.test(bare)) return bare.toLowerCase() === 'true';
  const isNumber = types.includes('number') || types.includes('integer');
  if (!isNumber || !/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(bare)) return text;
  const value = Number(bare);
  // A whole number that is too large, such as an id, would become another.
  const isExact = Number.isFinite(value) && (!/^[+-]?\d+$/.test(bare) || Number.isSafeInteger(value));
  return isExact ? value : text;
}
