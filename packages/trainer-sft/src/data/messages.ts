/** Messages and tools of data files, in the shapes of OpenAI, TRL and toolenv, as the protocol has them. */
import type { Message, ToolCall, ToolDescription } from '@toolenv/core';
import {
  contentText,
  isObject,
  jsonWithDigits,
  withoutFilledNulls,
  withoutNulls,
} from '@toolenv/core/schemas';
import { BadExample } from './example.ts';

type Fields = Record<string, unknown>;
type AssistantMessage = Extract<Message, { role: 'assistant' }>;

/** What is known when messages are read. */
interface Around {
  /** What the calls may call: their schemas say which arguments may be null. */
  tools: readonly ToolDescription[];
  /** Messages that come before these, in which a call may have been made. */
  before?: readonly Message[];
}

/**
 * @param given Without null properties, except in arguments.
 * @returns The messages, and whether each of the assistant's is learned: OpenAI's `weight: 0` leaves a message out.
 * @throws BadExample
 */
export function readMessages(
  given: unknown,
  path: string,
  { tools, before = [] }: Around,
): { messages: Message[]; learned: boolean[] } {
  if (!Array.isArray(given) || given.length === 0) throw new BadExample(path, 'a list of messages', given);
  const calls = new Map<string, string>();
  for (const message of before) remember(message, calls);
  const messages: Message[] = [];
  const learned: boolean[] = [];
  for (const [index, each] of given.entries()) {
    const message = readMessage(fieldsOf(each, `${path}/${index}`), `${path}/${index}`, { calls, tools });
    remember(message, calls);
    messages.push(message);
    if (message.role === 'assistant') learned.push((each as Fields).weight !== 0);
  }
  return { messages, learned };
}

/** Tools as OpenAI and TRL have them (`{ type: 'function', function }`), as MCP and toolenv, or as JSON text of a list. */
export function readTools(given: unknown, path: string): ToolDescription[] {
  // Arrow gives each schema the properties of all schemas.
  const tools = withoutNulls(typeof given === 'string' ? parseJson(given, path) : (given ?? []));
  if (!Array.isArray(tools)) throw new BadExample(path, 'a list of tools', given);
  return tools.map((each, index) => {
    const at = `${path}/${index}`;
    const outer = fieldsOf(each, at);
    const tool = outer.function === undefined ? outer : fieldsOf(outer.function, `${at}/function`);
    const { name, description = '', inputSchema, parameters } = tool;
    const schema = inputSchema ?? parameters ?? { type: 'object', properties: {} };
    if (typeof name !== 'string') throw new BadExample(`${at}/name`, 'a name', name);
    if (typeof description !== 'string') throw new BadExample(`${at}/description`, 'a text', description);
    return { name, description, inputSchema: fieldsOf(schema, `${at}/parameters`) };
  });
}

export function fieldsOf(value: unknown, path: string): Fields {
  if (isObject(value)) return value;
  throw new BadExample(path, 'an object', value);
}

/** Remembers the names of the calls, by their ids. */
function remember(message: Message, calls: Map<string, string>): void {
  if (message.role !== 'assistant') return;
  for (const { id, name } of message.toolCalls ?? []) calls.set(id, name);
}

interface Known {
  tools: readonly ToolDescription[];
  /** Names of the calls so far, by their ids. */
  calls: ReadonlyMap<string, string>;
}

function readMessage(given: Fields, path: string, { calls, tools }: Known): Message {
  const { role } = given;
  const content = readContent(given.content, `${path}/content`, role === 'assistant');
  if (role === 'system' || role === 'developer') return { role: 'system', content };
  if (role === 'user') return { role, content };
  if (role === 'assistant') return readAssistant(given, content, path, tools);
  if (role === 'tool') return readResult(given, content, path, calls);
  throw new BadExample(`${path}/role`, 'system, developer, user, assistant or tool', role);
}

/** Text, or OpenAI's list of text parts. The assistant's may be null beside calls. */
function readContent(given: unknown, path: string, mayBeNull: boolean): string {
  if (typeof given === 'string') return given;
  if (mayBeNull && (given === null || given === undefined)) return '';
  if (!Array.isArray(given)) throw new BadExample(path, 'text', given);
  const wrong = given.findIndex((part) => contentText([part]) === undefined);
  if (wrong < 0) return contentText(given)!;
  throw new BadExample(`${path}/${wrong}`, 'a part of the type text', given[wrong]);
}

function readAssistant(
  given: Fields,
  content: string,
  path: string,
  tools: readonly ToolDescription[],
): AssistantMessage {
  if (given.function_call !== undefined && given.function_call !== null)
    throw new BadExample(`${path}/function_call`, 'tool_calls', given.function_call);
  // Names of vLLM and DeepSeek, of OpenRouter, of gpt-oss, and of toolenv.
  const thinking = ['reasoning_content', 'reasoning', 'thinking'].find(
    (name) => given[name] != null && given[name] !== '',
  );
  const reasoning = thinking === undefined ? undefined : given[thinking];
  if (reasoning !== undefined && typeof reasoning !== 'string')
    throw new BadExample(`${path}/${thinking}`, 'a text', reasoning);
  const { weight = 1 } = given;
  if (weight !== 0 && weight !== 1) throw new BadExample(`${path}/weight`, '0 or 1', weight);
  const calls = given.tool_calls ?? given.toolCalls ?? [];
  if (!Array.isArray(calls)) throw new BadExample(`${path}/tool_calls`, 'a list of calls', calls);
  const toolCalls = calls.map((call, index) =>
    readCall(call, `${path}/tool_calls/${index}`, { index, tools }),
  );
  // Text may be empty: a model can end its turn at once, and pairs show that it should not.
  if (typeof given.content !== 'string' && content === '' && toolCalls.length === 0)
    throw new BadExample(path, 'content or tool_calls', given.content);
  return {
    role: 'assistant',
    content,
    ...(reasoning !== undefined && { reasoning }),
    ...(toolCalls.length > 0 && { toolCalls }),
  };
}

function readCall(
  given: unknown,
  path: string,
  { index, tools }: { index: number; tools: readonly ToolDescription[] },
): ToolCall {
  const outer = fieldsOf(given, path);
  const call = outer.function === undefined ? outer : fieldsOf(outer.function, `${path}/function`);
  const at = call === outer ? path : `${path}/function`;
  const { name } = call;
  const args = call.arguments ?? {};
  const { id = `call-${index}` } = outer;
  if (typeof name !== 'string' || name === '') throw new BadExample(`${at}/name`, 'the name of a tool', name);
  if (typeof id !== 'string') throw new BadExample(`${path}/id`, 'a text', id);
  if (typeof args === 'string')
    return { id, name, arguments: fieldsOf(parseJson(args, `${at}/arguments`), `${at}/arguments`) };
  const schema = tools.find((tool) => tool.name === name)?.inputSchema;
  const own = schema?.properties ? withoutFilledNulls(schema, args, 'drop') : withoutNulls(args);
  return { id, name, arguments: fieldsOf(own, `${at}/arguments`) };
}

function readResult(
  given: Fields,
  content: string,
  path: string,
  calls: ReadonlyMap<string, string>,
): Message {
  // TRL's results may have no id: they belong to the last call.
  const toolCallId = given.tool_call_id ?? given.toolCallId ?? [...calls.keys()].at(-1);
  if (typeof toolCallId !== 'string')
    throw new BadExample(`${path}/tool_call_id`, 'the id of a call', toolCallId);
  const name = given.name ?? calls.get(toolCallId);
  if (typeof name !== 'string')
    throw new BadExample(`${path}/tool_call_id`, 'the id of a call before the message', toolCallId);
  return { role: 'tool', content, toolCallId, name };
}

/** As in rows, an integer that a number would round is the text of its digits. @throws BadExample */
export function parseJson(text: string, path: string, expected = 'JSON'): unknown {
  try {
    return jsonWithDigits(text);
  } catch {
    throw new BadExample(path, expected, text);
  }
}
