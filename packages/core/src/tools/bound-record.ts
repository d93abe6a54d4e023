/** boundRecord: limits how much of a tool's result a trajectory stores. */
import { createHash } from 'node:crypto';
import type { ToolCallRecord } from '../protocol/env.ts';
import { messageOf, ToolEnvError } from '../protocol/errors.ts';

/** Largest number of characters of a result's JSON that is stored. */
const longestResult = 16_384;

/**
 * The record unchanged if its result is short. Otherwise the record without the result's content, with its length and
 * digest instead. `text`, which the model read, is limited already.
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
    const message = `Tool "${name}" failed: its result is not JSON: ${messageOf(error)}`;
    throw new ToolEnvError('infrastructure.tool_failed', message, { cause: error });
  }
}
