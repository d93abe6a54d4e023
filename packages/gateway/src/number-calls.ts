/** numberCalls: gives the calls of a conversation ids by their order, because clients give them ids of their own. */
import type { SentMessage } from './wire/model-request.ts';

/** The messages with `call_1`, `call_2` and so on. A result has the id of the last call before it that had its id. */
export function numberCalls(messages: readonly SentMessage[]): SentMessage[] {
  const ids = new Map<string, string>();
  let count = 0;
  return messages.map((message) => {
    if (message.role === 'tool') return { ...message, id: ids.get(message.id) ?? message.id };
    if (message.role !== 'assistant') return message;
    const calls = message.calls.map((call) => {
      count += 1;
      ids.set(call.id, `call_${count}`);
      return { ...call, id: `call_${count}` };
    });
    return { ...message, calls };
  });
}
