/** explorer: a script that calls every tool with the words that it has read, the newest first, to see what tells tasks apart. */
import type { Observation, Script, ToolCall } from '@toolenv/core';
import { randomCall } from '../env/fuzz-actions.ts';

export interface Exploring {
  /** Turns with calls, and calls in each. */
  turns: number;
  calls: number;
  /** Calls with the words of the prompt that other episodes make. */
  skipped: number;
  seed: number;
}

/** For one episode, whose calls it remembers. Answers with nothing after its turns. */
export function explorer({ turns, calls, skipped, seed }: Exploring): Script {
  const made = new Set<string>();
  let waiting: Omit<ToolCall, 'id'>[] = [];
  let read = 0;
  return ({ tools, messages }, turn) => {
    if (turn >= turns) return '';
    const words = wordsOf(messages.slice(read));
    read = messages.length;
    // Tools that look for something come first: the others may change what is there.
    const found = [tools.filter(isReading), tools.filter((tool) => !isReading(tool))].flatMap((some) =>
      words.flatMap((word) => some.map((tool) => callWith(tool, word, seed))),
    );
    // What a call has shown is worth more than the rest of the prompt.
    waiting = [...(turn === 0 ? found.slice(skipped) : found.slice(0, calls)), ...waiting];
    const fresh = waiting.filter((call) => !made.has(JSON.stringify(call)));
    const chosen = fresh.slice(0, calls);
    waiting = fresh.slice(calls);
    for (const call of chosen) made.add(JSON.stringify(call));
    return chosen.length > 0 ? chosen : '';
  };
}

const reading = /list|read|get|search|find|show|look|view|query|fetch|tree/i;

function isReading({ name }: { name: string }): boolean {
  return reading.test(name);
}

/** Words of messages that others have written, without short words and those of errors. Names come first. */
function wordsOf(messages: Observation['messages']): string[] {
  const texts = messages
    .filter(({ role, content }) => role !== 'assistant' && !/^error|not found|no such/i.test(content))
    .map(({ content }) => content);
  const all = texts.join('\n').match(/[\p{L}\p{N}_][\p{L}\p{N}_./-]*[\p{L}\p{N}_]/gu) ?? [];
  const words = [...new Set(all)].filter((word) => word.length > 2);
  return words.toSorted((a, b) => Number(isName(b)) - Number(isName(a)));
}

/** With a point, a slash or a capital letter. */
function isName(word: string): boolean {
  return /[./]|^\p{Lu}/u.test(word);
}

/** A call that fits the tool's schema, with the word wherever any text may stand, and nothing that may be left out. */
export function callWith(
  { name, inputSchema }: Observation['tools'][number],
  word: string,
  seed: number,
): Omit<ToolCall, 'id'> {
  const { properties = {}, required = [] } = inputSchema as {
    properties?: Record<string, { type?: string; enum?: unknown }>;
    required?: string[];
  };
  const needed = Object.entries(properties).filter(([key]) => required.includes(key));
  const schema = { ...inputSchema, properties: Object.fromEntries(needed) };
  const [drawn] = randomCall([{ name, description: '', inputSchema: schema }], seed).toolCalls as [ToolCall];
  const texts = needed.filter(([, { type, enum: values }]) => type === 'string' && !values);
  return {
    name,
    arguments: { ...drawn.arguments, ...Object.fromEntries(texts.map(([key]) => [key, word])) },
  };
}
