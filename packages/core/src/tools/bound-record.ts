/** What is kept of a tool's answer once the environment has read it: ten megabytes belong into no trajectory. */
import { createHash } from 'node:crypto';
import type { ToolCallRecord } from '../protocol/env.ts';
import { messageOf, ToolEnvError } from '../protocol/errors.ts';

/** Characters of an answer's JSON that are kept with a step. */
const longestResult = 16_384;

/**
 * The record as it is if its result is short; else without the result's content, of which size and digest remain. What
 * the model read is `text`, which is bounded already.
 * @throws ToolEnvError `infrastructure.tool_failed` for a result that JSON cannot hold.
 */
export function boundRecord(record: ToolCallRecord): ToolCallRecord {
  const { result } = record;
  if (!result) return record;
  const json = toJson(record);
  if (json.length <= longestResult) return record;
  const sha256 = createHash('sha256').update(json).digest('hex');
  const bare = result.isError ? { content: [], isError: true } : { content: [] };
  return { ...record, result: bare, cut: { characters: json.length, sha256 } };
}

function toJson({ call, result }: ToolCallRecord): string {
  try {
    return JSON.stringify(result);
  } catch (error) {
    const name = 'name' in call ? call.name : '';
    const message = `Tool "${name}" failed: its result is no JSON value: ${messageOf(error)}`;
    throw new ToolEnvError('infrastructure.tool_failed', message, { cause: error });
  }
}
