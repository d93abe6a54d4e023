/** What is wrong with how a parser read a text. */
import { isParseFailure } from '@toolenv/core';
import type { ToolCallFormat } from '@toolenv/core/tools';

/** Milliseconds that a parser may take: for any text, and for each 1,024 characters. */
export const bound = { text: 20, kilobyte: 4 };

/**
 * `undefined` if the parser ended in time, threw nothing, and gave a turn whose calls are whole.
 * @param isMistral Whether calls are named between `[TOOL_CALLS]` and `[ARGS]`.
 */
export function judge(
  { parse }: Pick<ToolCallFormat, 'parse'>,
  text: string,
  isMistral: boolean,
): string | undefined {
  const allowed = bound.text + (bound.kilobyte * text.length) / 1_024;
  let fastest = Number.POSITIVE_INFINITY;
  // Processor time, because other work on the machine delays a parser. A collection of garbage may still count, but not three times.
  for (let attempt = 0; attempt < 3 && fastest > allowed; attempt++) {
    const started = process.cpuUsage();
    try {
      const wrong = malformed(parse(text), isMistral ? namesBeforeArguments(text) : undefined);
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

function malformed(
  { text, toolCalls }: ReturnType<ToolCallFormat['parse']>,
  names: Set<string> | undefined,
): string | undefined {
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
    if (names && !names.has(call.name))
      return `gave a call of "${call.name}", which its marker does not name`;
  }
  return undefined;
}

/** The names that `[TOOL_CALLS]name[ARGS]` gives, with `[CALL_ID]id` between them or not, if every call of the text has this form. */
function namesBeforeArguments(raw: string): Set<string> | undefined {
  const [, ...bodies] = raw.split('[TOOL_CALLS]');
  // After a bracket, the calls are a list of JSON, in which a mark is text.
  const isNamed = (body: string) => body.includes('[ARGS]') && !body.trimStart().startsWith('[');
  if (bodies.length === 0 || !bodies.every(isNamed)) return undefined;
  return new Set(bodies.map((body) => body.split(/\[(?:CALL_ID|ARGS)\]/)[0]!.trim()));
}
