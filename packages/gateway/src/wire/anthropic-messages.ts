/** Anthropic's Messages API. */

import { exactJsonText } from '@toolenv/core/schemas';
import { argumentsOf } from '../sent-messages.ts';
import {
  BadRequest,
  joinTurns,
  type ModelReply,
  type ModelRequest,
  refuse,
  type SentCall,
  type SentMessage,
  usageOf,
} from './model-request.ts';
import {
  arrayAt,
  choiceOf,
  distinct,
  expectNone,
  numbersOf,
  objectAt,
  stopAt,
  stringAt,
  textAt,
  toolAt,
} from './read-fields.ts';
import { mintId, type StoredItems, type Wire } from './wire.ts';

const errorTypes: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
};

export const anthropicMessages: Wire = {
  conversation({ system, messages, tools, tool_choice }) {
    const instructions = textAt(system, 'system');
    const first: SentMessage[] = instructions === '' ? [] : [{ role: 'system', text: instructions }];
    return {
      messages: [...first, ...joinTurns(arrayAt(messages, 'messages').flatMap(readMessage))],
      tools: Object(tool_choice).type === 'none' ? [] : distinct(arrayAt(tools ?? [], 'tools').map(readTool)),
    };
  },

  read(body, stored) {
    expectNone(body, ['container', 'mcp_servers'], 'the policy does not have it');
    const { stream = false, model, tool_choice } = body;
    const conversation = this.conversation(body, stored);
    const { type: choice, name } = Object(tool_choice);
    return {
      ...conversation,
      toolChoice:
        choice === 'any' ? 'required' : choice === 'tool' ? choiceOf(name, conversation.tools) : undefined,
      stream: stream === true,
      model: stringAt(model ?? 'policy', 'model'),
      asked: numbersOf(body, ['temperature', 'top_p', 'top_k', 'max_tokens']),
      stop: stopAt(body.stop_sequences, 'stop_sequences'),
      usage: true,
      thinks: ['enabled', 'adaptive'].includes(Object(body.thinking).type),
      tokenIds: body.return_token_ids === true,
      logprobs: false,
    };
  },

  body(reply, request) {
    const { tokens } = reply;
    return {
      ...headOf(reply, request),
      content: blocksOf(reply, request),
      stop_reason: stopReasonOf(reply),
      usage: { input_tokens: usageOf(reply).prompt, output_tokens: usageOf(reply).completion },
      ...(request.tokenIds &&
        tokens && { prompt_token_ids: [...tokens.prompt], token_ids: [...tokens.action] }),
    };
  },

  *events(reply, request) {
    const event = (type: string, fields: object = {}) =>
      `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`;
    yield event('message_start', { message: headOf(reply, request) });
    for (const [index, block] of blocksOf(reply, request).entries()) {
      const { text, input, thinking } = block as { text?: string; input?: object; thinking?: string };
      const [empty, delta] =
        thinking !== undefined
          ? [{ thinking: '' }, { type: 'thinking_delta', thinking }]
          : text !== undefined
            ? [{ text: '' }, { type: 'text_delta', text }]
            : [{ input: {} }, { type: 'input_json_delta', partial_json: JSON.stringify(input) }];
      const start = { ...block, ...empty };
      yield event('content_block_start', { index, content_block: start });
      yield event('content_block_delta', { index, delta });
      yield event('content_block_stop', { index });
    }
    yield event('message_delta', {
      delta: { stop_reason: stopReasonOf(reply), stop_sequence: null },
      usage: { output_tokens: usageOf(reply).completion },
    });
    yield event('message_stop');
  },

  heartbeat: 'event: ping\ndata: {"type": "ping"}\n\n',

  error({ status, message, code }) {
    const type = errorTypes[status] ?? (status >= 500 ? 'api_error' : 'invalid_request_error');
    // By these words, clients know that they must shorten the conversation.
    const words = code === 'context_length_exceeded' ? `prompt is too long: ${message}` : message;
    return { type: 'error', error: { type, message: words } };
  },
};

/**
 * An estimate of the tokens of a request, a quarter of its characters: by it, clients decide when to shorten a conversation.
 * @throws BadRequest
 */
export function countTokens(body: unknown, stored: StoredItems): { input_tokens: number } {
  const conversation = anthropicMessages.conversation(objectAt(body, 'the body'), stored);
  return { input_tokens: Math.ceil(JSON.stringify(conversation).length / 4) };
}

function readTool(given: unknown, index: number): ReturnType<typeof toolAt> {
  const field = `tools[${index}]`;
  const { type = 'custom' } = objectAt(given, field);
  if (type !== 'custom') refuse(field, `the policy calls functions, not ${JSON.stringify(type)}`);
  return toolAt(given, field, 'input_schema');
}

/**
 * A message of the user may hold the results of several calls, and a text after them.
 * @throws BadRequest
 */
export function readMessage(given: unknown, index: number): SentMessage[] {
  const field = `messages[${index}]`;
  const { role, content } = objectAt(given, field);
  const blocks =
    typeof content === 'string' ? [{ type: 'text', text: content }] : arrayAt(content, `${field}.content`);
  const texts: unknown[] = [];
  const calls: SentCall[] = [];
  const results: SentMessage[] = [];
  for (const [i, each] of blocks.entries()) {
    const at = `${field}.content[${i}]`;
    const block = objectAt(each, at);
    if (block.type === 'tool_use') {
      const input = exactJsonText(block.input ?? {});
      calls.push({
        id: stringAt(block.id, `${at}.id`),
        name: stringAt(block.name, `${at}.name`),
        arguments: input,
      });
    } else if (block.type === 'tool_result') {
      const id = stringAt(block.tool_use_id, `${at}.tool_use_id`);
      results.push({ role: 'tool', id, text: textAt(block.content, `${at}.content`) });
    } else if (block.type !== 'thinking' && block.type !== 'redacted_thinking') texts.push(block);
  }
  const text = textAt(texts, `${field}.content`);
  if (role === 'assistant') return [{ role, text, calls }];
  if (role === 'system') return [{ role, text }];
  if (role !== 'user') throw new BadRequest(`${field}.role`, `${field}.role is unknown.`);
  return texts.length > 0 || results.length === 0 ? [...results, { role, text }] : results;
}

function headOf(reply: ModelReply, { model }: ModelRequest): object {
  return {
    id: mintId('msg'),
    type: 'message',
    role: 'assistant',
    model,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { input_tokens: usageOf(reply).prompt, output_tokens: 0 },
  };
}

function blocksOf({ text, reasoning, calls }: ModelReply, { thinks }: ModelRequest): object[] {
  const thought =
    thinks && reasoning !== undefined ? [{ type: 'thinking', thinking: reasoning, signature: '' }] : [];
  const said = text === '' && calls.length > 0 ? [] : [{ type: 'text', text }];
  const uses = calls.map(({ id, name, arguments: args }) => ({
    type: 'tool_use',
    id,
    name,
    // Here arguments are objects. What does not parse has no place, and clients refuse an answer with such keys as a whole.
    input: /"(__proto__|constructor)"/.test(args) ? {} : argumentsOf({ arguments: args }),
  }));
  return [...thought, ...said, ...uses];
}

function stopReasonOf({ calls, isCut }: ModelReply): string {
  if (isCut) return 'max_tokens';
  return calls.length > 0 ? 'tool_use' : 'end_turn';
}
