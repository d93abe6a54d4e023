/** loadPairs: the pairs of a file, as rows of tokens. */
import { type Message, ToolEnvError } from '@toolenv/core';
import type { Pair } from '../learn-pairs.ts';
import { type EncodingPolicy, encodeExample, type Reading, readFile } from './encode-file.ts';
import { BadExample, type Example } from './example.ts';
import { readMessages, readTools } from './messages.ts';
import { parseLine } from './read-example.ts';

/**
 * Pairs that are longer than `maxLength` are left out, with a warning.
 * @throws ToolEnvError as {@link readFile} does, and `usage.no_examples` if no pair is left.
 */
export async function loadPairs(
  file: string,
  policy: EncodingPolicy,
  { maxLength, ...reading }: { maxLength: number } & Reading,
): Promise<Pair[]> {
  const pairs: Pair[] = [];
  let left = 0;
  const encoded = readFile(
    file,
    async (text): Promise<Pair> => {
      const { chosen, rejected } = readPair(text);
      return { chosen: await encodeExample(policy, chosen), rejected: await encodeExample(policy, rejected) };
    },
    reading,
  );
  for await (const pair of encoded) {
    const isWhole = [pair.chosen, pair.rejected].every(
      (side) => side.length > 0 && side.every(({ tokens }) => tokens.length <= maxLength),
    );
    if (isWhole) pairs.push(pair);
    else left += 1;
  }
  if (left > 0) {
    const what = `${left} of ${left + pairs.length} pairs of ${file} are longer than ${maxLength} tokens and are left out`;
    process.emitWarning(`${what}: raise maxLength to learn them.`, 'TruncatedData');
  }
  if (pairs.length > 0) return pairs;
  throw new ToolEnvError('usage.no_examples', `${file} has no pair of at most ${maxLength} tokens.`);
}

/**
 * `prompt`, `chosen` and `rejected` as plain text, or as messages with `tools`. Without a `prompt`, the messages that both
 * begin with are the prompt. Only the turns after the prompt are learned.
 * @throws BadExample
 */
export function readPair(text: string): { chosen: Example; rejected: Example } {
  const { prompt, chosen, rejected, tools } = parseLine(text);
  if (typeof chosen === 'string' && typeof rejected === 'string') {
    if (typeof prompt !== 'string')
      throw new BadExample('/prompt', 'text, as chosen and rejected are', prompt);
    return { chosen: textExample(prompt, chosen), rejected: textExample(prompt, rejected) };
  }
  const described = readTools(tools, '/tools');
  const before = prompt === undefined ? [] : readMessages(prompt, '/prompt', { tools: described }).messages;
  const around = { tools: described, before };
  const [good, bad] = [
    [...before, ...readMessages(chosen, '/chosen', around).messages],
    [...before, ...readMessages(rejected, '/rejected', around).messages],
  ];
  const shared = prompt === undefined ? sharedMessages(good!, bad!) : before.length;
  const first = good!.slice(0, shared).filter(({ role }) => role === 'assistant').length;
  const example = (messages: Message[], path: string): Example => {
    if (!messages.slice(shared).some(({ role }) => role === 'assistant'))
      throw new BadExample(path, 'an assistant message after the prompt', messages.slice(shared));
    return { content: { messages, tools: described }, learns: (turn) => turn >= first };
  };
  return { chosen: example(good!, '/chosen'), rejected: example(bad!, '/rejected') };
}

function textExample(prompt: string, answer: string): Example {
  const segments = [
    { text: prompt, learn: false },
    { text: answer, learn: true },
  ].filter(({ text }) => text !== '');
  return { content: { segments, ends: true } };
}

function sharedMessages(a: readonly Message[], b: readonly Message[]): number {
  let count = 0;
  while (count < a.length && JSON.stringify(a[count]) === JSON.stringify(b[count])) count += 1;
  return count;
}
