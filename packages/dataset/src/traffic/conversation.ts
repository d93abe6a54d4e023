/** Conversation: a line that `toolenv capture` has written, and the task that it began with. */
import { ToolEnvError } from '@toolenv/core';
import { contentText, isObject, jsonMistake, tryObject, withoutNulls } from '@toolenv/core/schemas';

/** A message with what tasks and judges need of it. */
export interface SpokenMessage {
  role: 'system' | 'user' | 'assistant' | 'tool';
  content: string;
  /** The calls of a turn of the assistant: names, and arguments as JSON. */
  calls?: { name: string; arguments: string }[];
}

export interface Conversation {
  messages: SpokenMessage[];
  /** As they were recorded. */
  tools: Record<string, unknown>[];
  /** Who talked to the model. */
  user?: string;
  /** When it began, in milliseconds since 1970. */
  time?: number;
}

type Fields = Record<string, unknown>;

/** Levels of a line, and its characters. */
const bounds = { depth: 64, characters: 2 ** 26 };
const roles = new Map<unknown, SpokenMessage['role']>([
  ['system', 'system'],
  ['developer', 'system'],
  ['user', 'user'],
  ['assistant', 'assistant'],
  ['tool', 'tool'],
]);

/**
 * Reads a line. Fields that it does not know are left out.
 * @param place Begins the error, which repeats nothing of the line.
 * @throws ToolEnvError `usage.broken_record`.
 */
export function readConversation(text: string, place: string): Conversation {
  const refuse = (path: string, expected: string): never => {
    const message = `${place}: ${path} must be ${expected}: give a file that toolenv capture has written, or correct the line.`;
    throw new ToolEnvError('usage.broken_record', message);
  };
  const line = tryObject(text) ?? refuse('it', 'a JSON object');
  const wrong = jsonMistake(line, bounds);
  if (wrong) refuse('it', wrong.expected);
  const { messages, tools = [], user, time } = withoutNulls(line, 'tools') as Fields;
  if (!Array.isArray(messages) || messages.length === 0) return refuse('messages', 'a list of messages');
  if (!Array.isArray(tools) || !tools.every(isObject)) return refuse('tools', 'a list of objects');
  if (user !== undefined && typeof user !== 'string') return refuse('user', 'a text');
  const began = typeof time === 'string' ? Date.parse(time) : Number.NaN;
  if (time !== undefined && Number.isNaN(began)) return refuse('time', 'a time in ISO 8601');
  return {
    messages: messages.map((message, n) => readMessage(message, `messages[${n}]`, refuse)),
    tools,
    ...(user !== undefined && { user }),
    ...(time !== undefined && { time: began }),
  };
}

function readMessage(
  given: unknown,
  path: string,
  refuse: (path: string, expected: string) => never,
): SpokenMessage {
  const { role: named, content, tool_calls } = isObject(given) ? given : refuse(path, 'an object');
  const role = roles.get(named) ?? refuse(`${path}.role`, 'system, developer, user, assistant or tool');
  const isCalling = role === 'assistant' && tool_calls !== undefined;
  const text = contentText(content ?? (isCalling ? '' : undefined));
  if (text === undefined) return refuse(`${path}.content`, 'a text, or a list of parts of text');
  if (!isCalling) return { role, content: text };
  const calls = Array.isArray(tool_calls) ? tool_calls : refuse(`${path}.tool_calls`, 'a list of calls');
  return {
    role,
    content: text,
    calls: calls.map((call: unknown, n) => {
      const { name, arguments: args } = Object(Object(call as Fields).function) as Fields;
      if (typeof name === 'string' && typeof args === 'string') return { name, arguments: args };
      return refuse(`${path}.tool_calls[${n}].function`, 'an object with the texts name and arguments');
    }),
  };
}

/**
 * What the model read first: the messages up to the first turn of the assistant after a message of the user. A greeting of the assistant is a part of it.
 * Empty if no user says anything.
 */
export function firstMessages({ messages }: Pick<Conversation, 'messages'>): SpokenMessage[] {
  const asked = messages.findIndex(({ role }) => role === 'user');
  if (asked < 0) return [];
  const answered = messages.findIndex(
    ({ role }, n) => n > asked && (role === 'assistant' || role === 'tool'),
  );
  return answered < 0 ? messages : messages.slice(0, answered);
}

/** The answer to the first messages: the text of the last turn before the user speaks again. `undefined` if it calls tools or is empty. */
export function firstAnswer(conversation: Pick<Conversation, 'messages'>): string | undefined {
  const rest = conversation.messages.slice(firstMessages(conversation).length);
  const next = rest.findIndex(({ role }) => role === 'user' || role === 'system');
  const { role, content, calls } = rest.at(next < 0 ? -1 : next - 1) ?? {};
  return role === 'assistant' && !calls && content?.trim() ? content : undefined;
}

/** A conversation as a person or a judge reads it. */
export function conversationText({ messages }: Pick<Conversation, 'messages'>): string {
  const texts = messages.map(({ role, content, calls = [] }) =>
    [
      `${role === 'tool' ? 'tool result' : role}:`,
      ...(content === '' ? [] : [content]),
      ...calls.map(({ name, arguments: args }) => `calls ${name}(${args})`),
    ].join('\n'),
  );
  return texts.join('\n\n');
}
