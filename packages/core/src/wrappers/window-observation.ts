/** windowObservation: the policy sees the task and the last turns, and a summary of those between if one is made. */
import { ToolEnvError } from '../protocol/errors.ts';
import type { Message } from '../protocol/message.ts';
import { transformObservation } from './transform-observation.ts';
import type { Wrappable, Wrapped } from './wrap.ts';

export interface ObservationWindow {
  /** Turns that stay, each an assistant message and what follows it. What comes before the first turn always stays. */
  turns: number;
  /** What to say of the messages that are left out; it is put at the end of the message before them. Default: nothing. */
  summarize?(dropped: readonly Message[], options: { signal?: AbortSignal }): string | Promise<string>;
}

/** @throws ToolEnvError `usage.window` if `turns` is no whole number from 0 up. */
export function windowObservation<Inner extends Wrappable>(
  env: Inner,
  { turns, summarize }: ObservationWindow,
): Wrapped<Inner> {
  if (!Number.isInteger(turns) || turns < 0) {
    throw new ToolEnvError(
      'usage.window',
      `windowObservation: turns is ${turns}: give a whole number from 0 up.`,
    );
  }
  return transformObservation(env, async ({ messages, tools }, options) => {
    const starts = messages.flatMap(({ role }, i) => (role === 'assistant' ? [i] : []));
    if (starts.length <= turns) return { messages, tools };
    const from = starts[starts.length - turns] ?? messages.length;
    const head = messages.slice(0, starts[0]);
    const dropped = messages.slice(starts[0], from);
    const told = summarize ? withSummary(head, await summarize(dropped, options)) : head;
    return { messages: [...told, ...messages.slice(from)], tools };
  });
}

/** Into the user's message, since many a chat template refuses two of a user in a row. */
function withSummary(head: Message[], summary: string): Message[] {
  const last = head.at(-1);
  if (last?.role !== 'user') return [...head, { role: 'user', content: summary }];
  return [...head.slice(0, -1), { ...last, content: `${last.content}\n\n${summary}` }];
}
