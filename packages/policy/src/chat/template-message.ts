/** Messages in the shape that a chat template takes. Templates differ in contents, arguments and the name of thoughts. */
import type { Message, ToolCall } from '@toolenv/core';
import { hermesFormat, type ThoughtMarks, type ToolCallFormat } from '@toolenv/core/tools';

/** How a template takes messages. */
export interface MessageForm {
  /** Whether a content is a text, or a list with a part that is a text. */
  content: 'text' | 'parts';
  /** Whether a call's arguments are an object, or JSON in a text. */
  arguments: 'object' | 'text';
  /** The format of the calls that the template writes; `undefined` if there is none. */
  format: ToolCallFormat | undefined;
  /** The name under which the template takes thoughts; `undefined` if it leaves them out. */
  reasoningName: 'reasoning_content' | 'reasoning' | 'thinking' | undefined;
  thoughts: ThoughtMarks;
}

/** A message in OpenAI's shape. */
export function templateMessage(message: Message, form: MessageForm): Record<string, unknown> {
  const { role } = message;
  const content = templateContent(message.content, form.content);
  const format = form.format ?? hermesFormat;
  if (role === 'tool') {
    const { name, toolCallId } = message;
    return { role, content, name, tool_call_id: format.templateId?.(toolCallId, name) ?? toolCallId };
  }
  if (role !== 'assistant') return { ...message, content };
  const { reasoning, toolCalls = [] } = message;
  return {
    role,
    content,
    ...(reasoning !== undefined && form.reasoningName && { [form.reasoningName]: reasoning }),
    ...(toolCalls.length > 0 && {
      tool_calls: toolCalls.map((call) => templateCall(call, format, form.arguments)),
    }),
  };
}

export function templateContent(text: string, form: MessageForm['content']): unknown {
  return form === 'text' ? text : [{ type: 'text', text }];
}

/** A call in OpenAI's shape. */
export function templateCall(
  { id, name, arguments: args }: ToolCall,
  { templateId = (own) => own }: Pick<ToolCallFormat, 'templateId'>,
  form: MessageForm['arguments'],
): Record<string, unknown> {
  const written = form === 'object' ? args : JSON.stringify(args);
  return { id: templateId(id, name), type: 'function', function: { name, arguments: written } };
}

/** The conversation without a system message, for templates that refuse it: its text begins the user's first message. */
export function withoutSystem(messages: readonly Message[]): Message[] {
  const [first, second, ...rest] = messages;
  if (first?.role !== 'system') return [...messages];
  if (second?.role === 'user')
    return [{ ...second, content: `${first.content}\n\n${second.content}` }, ...rest];
  return [{ role: 'user', content: first.content }, ...(second ? [second, ...rest] : [])];
}

/** A turn to learn from whose thought stands in its text, where the template takes no thoughts. */
export function withThoughtAsText(
  turn: Message,
  { reasoningName, thoughts: { open, close } }: Pick<MessageForm, 'reasoningName' | 'thoughts'>,
): Message {
  if (turn.role !== 'assistant' || turn.reasoning === undefined || reasoningName) return turn;
  const { reasoning, content, ...rest } = turn;
  return { ...rest, content: `${open}\n${reasoning}\n${close}\n\n${content}` };
}
