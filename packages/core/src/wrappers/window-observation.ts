/** windowObservation: shows the policy only the task, the last turns, and optionally a summary of the turns between. */
import { ToolEnvError } from '../protocol/errors.ts';
import type { Message } from '../protocol/message.ts';
import { transformObservation } from './transform-observation.ts';
import type { Wrappable, Wrapped } from './wrap.ts';

/** Which turns the policy sees. */
export interface ObservationWindow {
  /** Number of turns to keep, each an assistant message and what follows it. Messages before the first turn always stay. */
  turns: number;
  /** Summarises the dropped messages. The text is appended to the message before them. Default: no summary. */
  summarize?(dropped: readonly Message[], options: { signal?: AbortSignal }): string | Promise<string>;
}

/** @throws ToolEnvError `usage.window` if `turns` is not a whole number of at least 0. */
export function windowObservation<Inner extends Wrappable>(
  env: Inner,
  { turns, summarize }: ObservationWindow,
): Wrapped<Inner> {
  if (!Number.isInteger(turns) || turns < 0) {
    const message = `windowObservation: turns is ${turns}: give a whole number of at least 0.`;
    throw new ToolEnvError('usage.window', message);
  }
  return transformObservation(env, async ({ messages, ...rest }, options) => {
    const starts = messages.flatMap(({ role }, i) => (role === 'assistant' ? [i] : []));
    if (starts.length <= turns) return { messages, ...rest };
    const from = starts[starts.length - turns] ?? messages.length;
    const head = messages.slice(0, starts[0]);
    const dropped = messages.slice(starts[0], from);
    const start = summarize ? withSummary(head, await summarize(dropped, options)) : head;
    return { messages: [...start, ...messages.slice(from)], ...rest };
  });
}

/** Appends to the user's message, since many chat templates refuse two user messages in a row. */
function withSummary(head: Message[], summary: string): Message[] {
  const last = head.at(-1);
  if (last?.role !== 'user') return [...head, { role: 'user', content: summary }];
  return [...head.slice(0, -1), { ...last, content: `${last.content}\n\n${summary}` }];
}
