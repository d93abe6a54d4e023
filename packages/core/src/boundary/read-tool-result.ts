/** readToolResult: what a tool has returned, copied and checked before anything else looks at it. */
import { messageOf } from '../protocol/errors.ts';
import type { ToolResult } from '../protocol/tool.ts';
import { type JsonBounds, recordBounds } from '../schemas/json-bounds.ts';
import { validate } from '../schemas/json-schema.ts';
import { wireSchemas } from '../schemas/wire-schemas.ts';

/**
 * A copy of the result as plain JSON data.
 * @throws Error that names the rule that the result breaks: TOOL-4 or TOOL-5.
 */
export function readToolResult(given: unknown): ToolResult {
  const result = readJson(given) as ToolResult;
  if (!Array.isArray(result?.content))
    throw new Error('its result has no "content" array of blocks. (TOOL-4)');
  if (isPlainText(result)) return result;
  const [wrong] = validate(wireSchemas['tool-result'], result);
  if (!wrong) return result;
  throw new Error(
    `its result at ${wrong.path}: expected ${wrong.expected}; received ${wrong.received}. (TOOL-4)`,
  );
}

/** Whether the result is of the usual form, which needs no schema. */
function isPlainText({ content, isError = false, mistake }: ToolResult): boolean {
  if (typeof isError !== 'boolean' || mistake !== undefined) return false;
  return content.every((block) => block?.type === 'text' && typeof block.text === 'string');
}

function readJson(given: unknown): unknown {
  try {
    return copyJson(given, recordBounds);
  } catch (error) {
    throw new Error(`its result is not JSON: ${messageOf(error)} (TOOL-5)`, { cause: error });
  }
}

/**
 * A copy as plain JSON data that shares nothing with `value`, so that getters, proxies and later changes cannot reach the reader. Properties
 * that are `undefined` are left out, and `toJSON` is respected, as JSON.stringify does.
 * @throws Error that says what is beyond `bounds` or what JSON cannot hold, and whatever a getter of the value throws. A value
 *   that contains itself nests too deep.
 */
function copyJson(value: unknown, bounds: JsonBounds): unknown {
  return copy(value, bounds.depth, { left: bounds.characters, bounds });
}

interface Budget {
  left: number;
  readonly bounds: JsonBounds;
}

function copy(value: unknown, depth: number, budget: Budget): unknown {
  budget.left -= typeof value === 'string' ? value.length + 2 : 1;
  if (budget.left < 0) throw new Error(`it has more than ${budget.bounds.characters} characters.`);
  if (typeof value !== 'object' || value === null) return copyScalar(value);
  if (depth === 0) throw new Error(`it nests more than ${budget.bounds.depth} levels deep.`);
  if (Array.isArray(value)) {
    const items: unknown[] = [];
    const { length } = value;
    for (let i = 0; i < length; i++) items.push(copy(value[i] ?? null, depth - 1, budget));
    return items;
  }
  const { toJSON } = value as { toJSON?: unknown };
  if (typeof toJSON === 'function') return copy(toJSON.call(value), depth - 1, budget);
  // JSON.stringify would write each byte as a property.
  if (ArrayBuffer.isView(value)) throw new Error('it holds the bytes of a typed array.');
  const properties: Record<string, unknown> = {};
  for (const key of Object.keys(value)) {
    const part = (value as Record<string, unknown>)[key];
    if (part === undefined) continue;
    budget.left -= key.length + 3;
    const copied = copy(part, depth - 1, budget);
    // An assignment would set the prototype.
    if (key === '__proto__') Object.defineProperty(properties, key, { ...asData, value: copied });
    else properties[key] = copied;
  }
  return properties;
}

const asData = { enumerable: true, configurable: true, writable: true };

function copyScalar(value: unknown): unknown {
  if (typeof value === 'number' && !Number.isFinite(value)) throw new Error(`it holds ${value}.`);
  if (typeof value === 'function' || typeof value === 'bigint' || typeof value === 'symbol') {
    throw new Error(`it holds a ${typeof value}.`);
  }
  return value;
}
