/** Parses a range of texts of one format, in a process that can be ended, and says what is wrong with how it read them. */
import { isParseFailure } from '@toolenv/core';
import { callFormats, type ToolCallFormat } from '@toolenv/core/tools';
import fc from 'fast-check';
import { callTexts } from '../../../packages/policy/test/fuzz/call-texts.ts';
import type { Reporter } from '../part.ts';

export interface TextRange {
  format: string;
  seed: number;
  from: number;
  to: number;
}

/** Texts that share a generator. */
const blockLength = 1_000;
/** Wrong texts after which to stop: a broken parser may be slow on many. */
const enough = 20;

/** What is wrong with which texts. Says after each block how many texts are done. */
export async function run({ format, seed, from, to }: TextRange, { say }: Reporter): Promise<string[]> {
  const wrong: string[] = [];
  const parser = callFormats.find(({ name }) => name === format)!;
  const texts = fc.oneof(
    { weight: 99, arbitrary: callTexts(parser.markers, 8) },
    { weight: 1, arbitrary: callTexts(parser.markers) },
  );
  for (let start = from; start < to && wrong.length < enough; start += blockLength) {
    const numRuns = Math.min(to - start, blockLength);
    for (const text of fc.sample(texts, { numRuns, seed: seed + start })) {
      const what = judge(parser, text, format === 'mistral');
      if (what) wrong.push(`${JSON.stringify(text.slice(0, 60))}, ${text.length} characters: ${what}`);
    }
    say(String(start + numRuns - from));
    // Lets the message leave before the next block, which may hang.
    await new Promise((resolve) => setImmediate(resolve));
  }
  return wrong;
}

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
