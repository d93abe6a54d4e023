/** What is wrong with how a parser read a text. */
import { isParseFailure } from '@toolenv/core';
import type { ToolCallFormat } from '@toolenv/core/tools';

/** Milliseconds that a parser may take: for any text, and for each 1,024 characters. */
export const bound = { text: 20, kilobyte: 4 };

/**
 * `undefined` if the parser ended in time, threw nothing, and gave a turn whose calls are whole.
 */
export function judge({ parse }: Pick<ToolCallFormat, 'parse'>, text: string): string | undefined {
  const allowed = bound.text + (bound.kilobyte * text.length) / 1_024;
  let fastest = Number.POSITIVE_INFINITY;
  // Processor time, because other work on the machine delays a parser. A collection of garbage may still count, but not three times.
  for (let attempt = 0; attempt < 3 && fastest > allowed; attempt++) {
    const started = process.cpuUsage();
    try {
      const wrong = malformed(parse(text));
      if (wrong) return wrong;
    } catch (error) {
      return `threw ${String(error)}`;
    }
    const { user, system } = process.cpuUsage(started);
    fastest = Math.min(fastest, (user + system) / 1_000);
  }
  if (fastest <= allowed) return undefined;
  return `took ${fastest.toFixed(0)} ms for ${text.length} characters, where ${allowed.toFixed(0)} ms are allowed`;
}

function malformed({ text, toolCalls }: ReturnType<ToolCallFormat['parse']>): string | undefined {
  if (typeof text !== 'string') return 'gave no text';
  for (const call of toolCalls) {
    if (isParseFailure(call)) {
      if (typeof call.text === 'string' && typeof call.parseFailure === 'string') continue;
      return 'gave a failure without a text';
    }
    if (typeof call.id !== 'string' || typeof call.name !== 'string') return 'gave a call without id or name';
    const { arguments: args } = call;
    if (typeof args !== 'object' || args === null || Array.isArray(args))
      return 'gave a call without arguments';
  }
  return undefined;
}
