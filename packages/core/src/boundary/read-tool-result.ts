/** readToolResult: what a tool has returned, copied and checked before anything else looks at it. */
import { messageOf } from '../protocol/errors.ts';
import type { ToolResult } from '../protocol/tool.ts';
import { recordBounds } from '../schemas/json-bounds.ts';
import { validate } from '../schemas/json-schema.ts';
import { wireSchemas } from '../schemas/wire-schemas.ts';
import { copyJson } from './json-copies.ts';

/**
 * A copy of the result as plain JSON data.
 * @throws Error that names the rule that the result breaks: TOOL-4 or TOOL-5.
 */
export function readToolResult(given: unknown): ToolResult {
  // Before the copy, which may be long.
  if (given === undefined || given === null)
    throw new Error("it returned nothing: return a text, or a result such as text('…'). (TOOL-4)");
  if (!mayBeResult(given)) throw noContent();
  const result = readJson(given) as ToolResult;
  if (!Array.isArray(result?.content)) throw noContent();
  if (isPlainText(result)) return result;
  const [wrong] = validate(wireSchemas['tool-result'], result);
  if (!wrong) {
    const address = result.content.find(
      (block) => block.type === 'image' && /^[a-z]+:/.test(String(block.data)),
    );
    if (address) throw new Error('its image has an address as data: give the bytes in Base64. (TOOL-4)');
    return result;
  }
  throw new Error(
    `its result at ${wrong.path}: expected ${wrong.expected}; received ${wrong.received}. (TOOL-4)`,
  );
}

/** Whether the value may be a result. Looks at its shape, without reading what a getter or a proxy would give. */
function mayBeResult(given: unknown): boolean {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) return false;
  try {
    if (ArrayBuffer.isView(given) || 'toJSON' in given) return true;
    if (!Object.keys(given).includes('content')) return false;
    const { value = [] } = Object.getOwnPropertyDescriptor(given, 'content')!;
    return Array.isArray(value);
  } catch (error) {
    throw notJson(error);
  }
}

function noContent(): Error {
  return new Error(
    `its result has no "content" array of blocks: return a text, or a result such as text('…'). (TOOL-4)`,
  );
}

/** Whether the result is of the usual form, which needs no schema. */
function isPlainText({ content, isError = false, mistake, usage, screened = '' }: ToolResult): boolean {
  if (typeof isError !== 'boolean' || mistake !== undefined || usage !== undefined) return false;
  if (typeof screened !== 'string') return false;
  return content.every((block) => block?.type === 'text' && typeof block.text === 'string');
}

function readJson(given: unknown): unknown {
  try {
    return copyJson(given, recordBounds);
  } catch (error) {
    throw notJson(error);
  }
}

function notJson(error: unknown): Error {
  return new Error(`its result is not JSON: ${messageOf(error)} (TOOL-5)`, { cause: error });
}
