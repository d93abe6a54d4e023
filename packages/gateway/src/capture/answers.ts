/** The answers in what a model server sends, whole or as a stream. */
import { bigintsAs, exactJson, isObject, tryJson } from '@toolenv/core/schemas';
import { anthropicMessages, readMessage as readAnthropic } from '../wire/anthropic-messages.ts';
import { chatCompletions, readMessage as readChat } from '../wire/chat-completions.ts';
import { BadRequest, joinTurns, type SentMessage } from '../wire/model-request.ts';
import { responses, toMessages } from '../wire/responses.ts';
import type { Wire } from '../wire/wire.ts';

type Fields = Record<string, unknown>;
/** A turn of the assistant. */
export type Answer = SentMessage & { role: 'assistant' };

interface AnswerReader {
  /** The turns that ended by themselves. */
  answers(body: Fields): Answer[];
  /** The body that a stream stands for; `undefined` if it has no end. */
  body(events: readonly Fields[]): Fields | undefined;
}

const readers: ReadonlyMap<Wire, AnswerReader> = new Map([
  [chatCompletions, { answers: chatAnswers, body: chatBody }],
  [responses, { answers: responsesAnswers, body: responsesBody }],
  [anthropicMessages, { answers: anthropicAnswers, body: anthropicBody }],
]);

/** What a server answered. */
export interface Answered {
  body: Fields;
  answers: Answer[];
}

/**
 * The turns of an answer that ended by themselves.
 * @param text The body of the response.
 * @throws BadRequest for what no example can hold.
 */
export function readAnswers(wire: Wire, text: string, isStream: boolean): Answered {
  const reader = readers.get(wire)!;
  const body = isStream ? reader.body(eventsOf(text)) : wholeOf(text);
  return body ? { body, answers: reader.answers(body) } : { body: {}, answers: [] };
}

/** The data of server-sent events, as far as they are objects. */
function eventsOf(text: string): Fields[] {
  return text.split(/\r?\n\r?\n/).flatMap((event) => {
    const lines = event.split(/\r?\n/).filter((line) => line.startsWith('data:'));
    const data = tryJson(lines.map((line) => line.slice(5)).join('\n'));
    return isObject(data) ? [data] : [];
  });
}

/** An integer that a number would round is a bigint in the input of a call. */
function wholeOf(text: string): Fields | undefined {
  try {
    const body = exactJson(text, (value) => bigintsAs('number', value, 'input'));
    return isObject(body) ? body : undefined;
  } catch {
    return undefined;
  }
}

function inputOf(json: string): unknown {
  try {
    return exactJson(json);
  } catch {
    return json;
  }
}

function assistant(messages: readonly SentMessage[]): Answer {
  const [message] = messages;
  if (messages.length === 1 && message?.role === 'assistant') return message;
  throw new BadRequest('output', 'an answer is not one turn of the assistant');
}

function objectsIn(value: unknown): Fields[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

function chatAnswers({ choices }: Fields): Answer[] {
  return objectsIn(choices).flatMap(({ message, finish_reason }) => {
    const isWhole = finish_reason === 'stop' || finish_reason === 'tool_calls';
    if (!isWhole || Object(message).refusal) return [];
    return [assistant([readChat({ ...Object(message), role: 'assistant' }, 0)])];
  });
}

interface StreamedChoice {
  /** Of the content. */
  parts: Fields[];
  calls: Map<unknown, Fields>;
  end: unknown;
  refusal: string;
}

function newChoice(): StreamedChoice {
  return { parts: [], calls: new Map(), end: undefined, refusal: '' };
}

function chatBody(events: readonly Fields[]): Fields | undefined {
  const choices = new Map<unknown, StreamedChoice>();
  for (const event of events) {
    for (const { index, delta, finish_reason } of objectsIn(event.choices)) {
      const choice = choices.get(index) ?? newChoice();
      choices.set(index, choice);
      const { content, refusal, tool_calls } = Object(delta);
      // Some servers stream lists of parts.
      choice.parts.push(
        ...(typeof content === 'string' ? [{ type: 'text', text: content }] : objectsIn(content)),
      );
      choice.refusal += typeof refusal === 'string' ? refusal : '';
      for (const { index: at, id, function: called } of objectsIn(tool_calls)) {
        const before = choice.calls.get(at) ?? { id: '', name: '', arguments: '' };
        const { name = '', arguments: args = '' } = Object(called);
        choice.calls.set(at, {
          id: before.id || id,
          name: before.name || name,
          arguments: `${before.arguments}${args ?? ''}`,
        });
      }
      choice.end = finish_reason ?? choice.end;
    }
  }
  return {
    choices: [...choices.values()].map(({ parts, calls, end, refusal }) => ({
      finish_reason: end,
      message: {
        ...{ content: parts, refusal },
        tool_calls: [...calls.values()].map(({ id, ...called }) => ({ id, function: called })),
      },
    })),
  };
}

function responsesAnswers({ status, output }: Fields): Answer[] {
  return status === 'completed' ? [assistant(joinTurns(toMessages(objectsIn(output))))] : [];
}

function responsesBody(events: readonly Fields[]): Fields | undefined {
  const end = events.findLast(({ type }) => type === 'response.completed');
  return isObject(end?.response) ? end.response : undefined;
}

const wholeTurns = new Set<unknown>(['end_turn', 'tool_use', 'stop_sequence']);

function anthropicAnswers({ stop_reason, content }: Fields): Answer[] {
  return wholeTurns.has(stop_reason) ? [assistant(readAnthropic({ role: 'assistant', content }, 0))] : [];
}

function anthropicBody(events: readonly Fields[]): Fields | undefined {
  const blocks = new Map<unknown, Fields & { json?: string }>();
  let stop_reason: unknown;
  for (const { type, index, content_block, delta } of events) {
    const { text, partial_json, stop_reason: reason } = Object(delta);
    if (type === 'content_block_start') blocks.set(index, { ...Object(content_block) });
    const block = blocks.get(index);
    if (type === 'content_block_delta' && block) {
      if (typeof text === 'string') block.text = `${block.text ?? ''}${text}`;
      if (typeof partial_json === 'string') block.json = `${block.json ?? ''}${partial_json}`;
    }
    if (type === 'message_delta') stop_reason = reason;
  }
  if (events.at(-1)?.type !== 'message_stop') return undefined;
  const content = [...blocks.values()].map(({ json, ...block }) => ({
    ...block,
    // What does not parse is refused as a malformed call.
    ...(json && { input: inputOf(json) }),
  }));
  return { stop_reason, content };
}
