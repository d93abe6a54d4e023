/** readToolResult: what a tool has returned, copied and checked before anything else looks at it. */
import { messageOf } from '../protocol/errors.ts';
import type { ToolResult } from '../protocol/tool.ts';
import { recordBounds } from '../schemas/json-bounds.ts';
import { validate } from '../schemas/json-schema.ts';
import { wireSchemas } from '../schemas/wire-schemas.ts';
import { copyJson } from './copy-json.ts';

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
