/** boundRecord: limits how much of a tool's result a trajectory stores. */
import { createHash } from 'node:crypto';
import type { ToolCallRecord } from '../protocol/env.ts';
import type { ToolResult } from '../protocol/tool.ts';

/** Largest number of characters of a result's JSON that is stored. */
const maxResultLength = 16_384;

/**
 * The record unchanged if its result is short. Otherwise the record without the result's content, with its length and
 * digest instead. `text`, which the model read, is limited already.
 */
export function boundRecord(record: ToolCallRecord): ToolCallRecord {
  const { result } = record;
  if (!result || isShortText(result)) return record;
  const json = JSON.stringify(result);
  if (json.length <= maxResultLength) return record;
  const sha256 = createHash('sha256').update(json).digest('hex');
  const bare = result.isError ? { content: [], isError: true } : { content: [] };
  return { ...record, result: bare, cut: { characters: json.length, sha256 } };
}

/** Whether the result is one short text, as most are, whose JSON need not be written in order to be measured. */
function isShortText({ content: [block, ...others], isError, ...rest }: ToolResult): boolean {
  if (block?.type !== 'text' || others.length > 0) return false;
  for (const _ in rest) return false;
  // JSON writes up to 6 characters for one.
  return Object.keys(block).length === 2 && (block.text as string).length < maxResultLength / 8;
}
