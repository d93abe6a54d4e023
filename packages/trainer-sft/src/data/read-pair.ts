/** readPair: a line with a preferred and a rejected answer, as TRL has them. */
import type { Message } from '@toolenv/core';
import { BadExample, type Example } from './example.ts';
import { readMessages, readTools } from './messages.ts';
import { parseLine } from './read-example.ts';

export interface ExamplePair {
  chosen: Example;
  rejected: Example;
}

/**
 * `prompt`, `chosen` and `rejected` as plain text, or as messages with `tools`. Without a `prompt`, the messages that both
 * begin with are the prompt. Only the turns after the prompt are learned.
 * @throws BadExample
 */
export function readPair(text: string): ExamplePair {
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
