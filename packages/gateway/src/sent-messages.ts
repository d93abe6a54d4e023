/** How the messages of requests are compared, and what clients receive in their place: what a client sends back is recognised however it writes it. */
import { createHash } from 'node:crypto';
import type { Action, ToolCall } from '@toolenv/core';
import { canonical } from '@toolenv/core/recording';
import { isObject, tryJsonWithDigits } from '@toolenv/core/schemas';
import type { ModelReply, ModelRequest, SentCall, SentMessage } from './wire/model-request.ts';
import { mintId } from './wire/wire.ts';

/** [messages] the digest of the tools and of the messages up to each. */
export function digestsOf(
  { messages, tools }: Pick<ModelRequest, 'messages' | 'tools'>,
  key: (message: SentMessage) => string = keyOf,
): string[] {
  let digest = next('', JSON.stringify(tools));
  return messages.map((message) => {
    digest = next(digest, key(message));
    return digest;
  });
}

/** The digest of a conversation with one more message. */
export function next(digest: string, key: string): string {
  return createHash('sha256').update(digest).update(key).digest('hex');
}

/** What identifies a message. Clients write arguments anew. */
export function keyOf(message: SentMessage): string {
  if (message.role === 'tool') return JSON.stringify(['tool', message.id, message.text]);
  if (message.role !== 'assistant') return JSON.stringify([message.role, message.text]);
  const { text, calls } = message;
  const written = calls.map((call) => [call.id, call.name, plainly(call.arguments)]);
  return JSON.stringify(['assistant', text.trim(), ...written]);
}

/** JSON without what clients change: spacing, the order of keys, how numbers are written. */
export function plainly(json: string): string {
  const value = tryJsonWithDigits(json);
  return value === undefined ? json : JSON.stringify(canonical(value));
}

/** The arguments of a call that a client sends back, as the policy reads them. Anything but an object counts as no arguments. */
export function argumentsOf({ arguments: json }: Pick<SentCall, 'arguments'>): Record<string, unknown> {
  const value = tryJsonWithDigits(json);
  return isObject(value) ? value : {};
}

/** The answer that a client receives. */
export function replyOf({ text, reasoning, stopReason, tokens }: Action, calls: SentCall[]): ModelReply {
  return { text, reasoning, calls, isCut: stopReason === 'length', tokens };
}

/** A call as a client receives it, with an id that nothing else in its conversation has. */
export function servedCall({ name, arguments: args }: ToolCall): SentCall {
  return { id: mintId('call'), name, arguments: JSON.stringify(args) };
}

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
