/** boundRecord: limits how much of a tool's result a trajectory stores. */
import { createHash } from 'node:crypto';
import type { ToolCallRecord } from '../protocol/env.ts';

/** Largest number of characters of a result's JSON that is stored. */
const maxResultLength = 16_384;

/**
 * The record unchanged if its result is short. Otherwise the record without the result's content, with its length and
 * digest instead. `text`, which the model read, is limited already.
 */
export function boundRecord(record: ToolCallRecord): ToolCallRecord {
  const { result } = record;
  if (!result) return record;
  const json = JSON.stringify(result);
  if (json.length <= maxResultLength) return record;
  const sha256 = createHash('sha256').update(json).digest('hex');
  const bare = result.isError ? { content: [], isError: true } : { content: [] };
  return { ...record, result: bare, cut: { characters: json.length, sha256 } };
}
