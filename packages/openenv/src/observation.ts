/** Makes OpenEnv's observations from what a step did. */
import type { ToolCallRecord } from '@toolenv/core';
import { answerName, type OpenEnvAction } from './action.ts';

/** An action that is a step of the episode. */
export type Played = Exclude<OpenEnvAction, { type: 'list_tools' }>;

/** What a policy reads after a call or an answer. */
export interface Said {
  text: string;
  isError?: boolean;
  record?: ToolCallRecord;
}

export function toSaid(record: ToolCallRecord | undefined): Said {
  if (!record) return { text: '' };
  return { text: record.text, isError: Boolean(record.mistake || record.result?.isError), record };
}

/** The observation of OpenEnv's CallToolAction, or of a turn. */
export function observe(
  asked: Played,
  said: Said,
  calls: readonly ToolCallRecord[] = [],
): Record<string, unknown> {
  if (asked.type !== 'turn') {
    const name = asked.type === 'answer' ? answerName : asked.name;
    return { tool_name: name, result: toolResult(said), error: null };
  }
  const results = calls.map((record) => ({
    tool_name: 'name' in record.call ? record.call.name : '',
    result: toolResult(toSaid(record)),
  }));
  return { text: said.text, calls: results };
}

/** FastMCP's result as OpenEnv sends it. `data` is the text that a policy reads: OpenEnv's client returns it. */
function toolResult({ text, isError = false, record }: Said): object {
  const others = record?.result?.content.filter(({ type }) => type !== 'text') ?? [];
  return {
    content: [{ type: 'text', text }, ...others],
    structured_content: record?.result?.structuredContent ?? null,
    meta: null,
    data: text,
    is_error: isError,
  };
}
