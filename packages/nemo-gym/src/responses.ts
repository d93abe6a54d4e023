/** The items of OpenAI's Responses API, which a row begins with and a verifier reads, and the messages of an episode. */
import { type JsonSchema, type Message, type ToolCall, ToolEnvError } from '@toolenv/core';
import { isObject, leaveOutUnusable } from '@toolenv/core/schemas';

type Item = Readonly<Record<string, unknown>>;

/** A tool that a row offers. */
export interface RowTool {
  name: string;
  description: string;
  inputSchema: JsonSchema;
}

/** @throws ToolEnvError `usage.nemo_gym` for what a policy that reads texts cannot be asked. */
export function messagesOf({ instructions, input }: Item): Message[] {
  const messages: Message[] = [];
  if (typeof instructions === 'string' && instructions !== '')
    messages.push({ role: 'system', content: instructions });
  if (typeof input === 'string') return [...messages, { role: 'user', content: input }];
  if (!Array.isArray(input)) throw unusable('has no input');
  for (const item of input) add(messages, item);
  if (messages.length === 0) throw unusable('has an empty input');
  return messages;
}

function add(messages: Message[], given: unknown): void {
  if (!isObject(given)) throw unusable('has an item of its input that is no object');
  const { type = 'message', role, content, call_id: id, name, arguments: args, output } = given;
  const last = messages.at(-1);
  if (type === 'reasoning') return;
  if (type === 'message' && (role === 'system' || role === 'developer'))
    messages.push({ role: 'system', content: textOf(content) });
  else if (type === 'message' && (role === 'user' || role === 'assistant'))
    messages.push({ role, content: textOf(content) });
  else if (type === 'function_call' && typeof id === 'string' && typeof name === 'string') {
    const call: ToolCall = { id, name, arguments: argumentsOf(args) };
    // The calls of a turn belong to its message.
    if (last?.role === 'assistant') last.toolCalls = [...(last.toolCalls ?? []), call];
    else messages.push({ role: 'assistant', content: '', toolCalls: [call] });
  } else if (type === 'function_call_output' && typeof id === 'string') {
    const calls = messages.flatMap((message) =>
      message.role === 'assistant' ? (message.toolCalls ?? []) : [],
    );
    const called = calls.find((call) => call.id === id)?.name ?? '';
    messages.push({ role: 'tool', content: textOf(output), toolCallId: id, name: called });
  } else throw unusable(`has an item of the type ${JSON.stringify(type)}, which no policy reads`);
}

/** The function tools of a row. @throws ToolEnvError `usage.nemo_gym` for a tool of another type. */
export function toolsOf({ tools }: Item): RowTool[] {
  if (tools === undefined || tools === null) return [];
  if (!Array.isArray(tools)) throw unusable('has tools that are no list');
  return tools.map((tool: unknown) => {
    const { type, name, description, parameters } = Object(tool) as Item;
    if (type !== 'function' || typeof name !== 'string')
      throw unusable(`has a tool of the type ${JSON.stringify(type)}: only functions are called here`);
    const inputSchema: JsonSchema = { type: 'object', ...(isObject(parameters) && parameters) };
    // The server judges what cannot be checked here.
    leaveOutUnusable(inputSchema);
    return { name, description: typeof description === 'string' ? description : '', inputSchema };
  });
}

/**
 * The response that a verifier gets: everything since the row.
 * @param nameOf The server's name of a tool.
 */
export function responseOf(
  messages: readonly Message[],
  params: Item,
  { id, isCut, nameOf }: { id: string; isCut: boolean; nameOf: (name: string) => string },
): Item {
  const { tools = [], tool_choice = 'auto', parallel_tool_calls = true } = params;
  return {
    id: `resp_${id}`,
    object: 'response',
    created_at: 0,
    model: 'policy',
    status: isCut ? 'incomplete' : 'completed',
    ...(isCut && { incomplete_details: { reason: 'max_output_tokens' } }),
    output: messages.flatMap((message, index) => itemsOf(message, `${id}_${index}`, nameOf)),
    ...{ tools: tools ?? [], tool_choice, parallel_tool_calls },
  };
}

function itemsOf(message: Message, id: string, nameOf: (name: string) => string): Item[] {
  if (message.role === 'tool')
    return [{ type: 'function_call_output', call_id: message.toolCallId, output: message.content }];
  if (message.role !== 'assistant') return [];
  const { content, reasoning, toolCalls = [] } = message;
  const thought = { type: 'reasoning', id: `rs_${id}`, summary: [{ type: 'summary_text', text: reasoning }] };
  const said = {
    ...{ type: 'message', id: `msg_${id}`, role: 'assistant', status: 'completed' },
    content: [{ type: 'output_text', text: content, annotations: [] }],
  };
  const calls = toolCalls.map((call) => ({
    ...{ type: 'function_call', id: `fc_${call.id}`, call_id: call.id, status: 'completed' },
    ...{ name: nameOf(call.name), arguments: JSON.stringify(call.arguments) },
  }));
  return [...(reasoning ? [thought] : []), ...(content !== '' || calls.length === 0 ? [said] : []), ...calls];
}

/** The text of a content: a text, or parts that are texts. */
function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) throw unusable('has a content that is neither a text nor a list');
  return content
    .map((part: unknown) => {
      const { type, text } = Object(part) as Item;
      if (typeof text !== 'string')
        throw unusable(`has a part of the type ${JSON.stringify(type)}: policies read texts only`);
      return text;
    })
    .join('\n');
}

function argumentsOf(text: unknown): Record<string, unknown> {
  try {
    const parsed: unknown = JSON.parse(String(text));
    return isObject(parsed) ? parsed : {};
  } catch {
    return {};
  }
}

function unusable(what: string): ToolEnvError {
  return new ToolEnvError('usage.nemo_gym', `it ${what}`);
}
