/** OpenAI's chat completions, with vLLM's fields for token ids. */
import type { ToolDescription } from '@toolenv/core';
import {
  BadRequest,
  joinTurns,
  type ModelReply,
  type ModelRequest,
  refuse,
  type SentCall,
  type SentMessage,
  tokenLogprobs,
  unixSeconds,
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
import { mintId, openAiError, type Wire } from './wire.ts';

export const chatCompletions: Wire = {
  conversation: ({ messages, tools, tool_choice }) => ({
    messages: joinTurns(arrayAt(messages, 'messages').map(readMessage)),
    tools: tool_choice === 'none' ? [] : distinct(arrayAt(tools ?? [], 'tools').map(readTool)),
  }),

  read(body, stored) {
    expectNone(body, ['logit_bias', 'functions', 'modalities', 'audio'], 'the policy does not have it');
    if (typeof body.n === 'number' && body.n > 1) refuse('n', 'the policy gives one answer to a request');
    const format = Object(body.response_format).type;
    if (format !== undefined && format !== 'text')
      refuse('response_format', 'the policy writes as it was trained to');
    const { stream = false, model, stream_options: streamed } = body;
    const conversation = this.conversation(body, stored);
    return {
      ...conversation,
      toolChoice: toolChoiceOf(body.tool_choice, conversation.tools),
      stream: stream === true,
      model: stringAt(model ?? 'policy', 'model'),
      asked: numbersOf(body, [
        'temperature',
        'top_p',
        'top_k',
        'min_p',
        'max_tokens',
        'max_completion_tokens',
        'seed',
      ]),
      stop: stopAt(body.stop, 'stop'),
      usage: Object(streamed).include_usage === true,
      tokenIds: body.return_token_ids === true,
      logprobs: body.logprobs === true,
    };
  },

  body(reply, request) {
    const { message, finish_reason } = messageOf(reply);
    return {
      ...headOf(request, 'chat.completion'),
      choices: [
        {
          index: 0,
          message,
          finish_reason,
          logprobs: logprobsOf(reply, request),
          ...(request.tokenIds && { token_ids: [...(reply.tokens?.action ?? [])] }),
        },
      ],
      usage: usageIn(reply),
      ...(request.tokenIds && { prompt_token_ids: [...(reply.tokens?.prompt ?? [])] }),
    };
  },

  *events(reply, request) {
    const head = headOf(request, 'chat.completion.chunk');
    const event = (delta: object, rest: object = {}) =>
      `data: ${JSON.stringify({ ...head, choices: [{ index: 0, delta, finish_reason: null, ...rest }] })}\n\n`;
    const prompt = request.tokenIds ? { prompt_token_ids: [...(reply.tokens?.prompt ?? [])] } : {};
    yield `data: ${JSON.stringify({ ...head, ...prompt, choices: [{ index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null }] })}\n\n`;
    const tokens = {
      ...(request.logprobs && { logprobs: logprobsOf(reply, request) }),
      ...(request.tokenIds && { token_ids: [...(reply.tokens?.action ?? [])] }),
    };
    if (reply.reasoning !== undefined) yield event({ reasoning_content: reply.reasoning });
    if (reply.text !== '' || Object.keys(tokens).length > 0) yield event({ content: reply.text }, tokens);
    for (const [index, { id, name, arguments: args }] of reply.calls.entries()) {
      const start = { index, id, type: 'function', function: { name, arguments: '' } };
      yield event({ tool_calls: [start] });
      yield event({ tool_calls: [{ index, function: { arguments: args } }] });
    }
    yield event({}, { finish_reason: messageOf(reply).finish_reason });
    if (request.usage) yield `data: ${JSON.stringify({ ...head, choices: [], usage: usageIn(reply) })}\n\n`;
    yield 'data: [DONE]\n\n';
  },

  heartbeat: ': the policy is busy\n\n',

  error: openAiError,
};

/**
 * The call that a client of OpenAI's APIs wants.
 * @throws BadRequest
 */
export function toolChoiceOf(choice: unknown, tools: readonly ToolDescription[]): ModelRequest['toolChoice'] {
  if (choice === undefined || choice === null || choice === 'auto' || choice === 'none') return undefined;
  if (choice === 'required') return choice;
  const { type, name, function: called } = Object(choice);
  if (type === 'function') return choiceOf(name ?? Object(called).name, tools);
  throw new BadRequest('tool_choice', 'tool_choice: give auto, none, required, or the name of a function.');
}

function readTool(given: unknown, index: number): ReturnType<typeof toolAt> {
  const field = `tools[${index}]`;
  const { type = 'function', function: described } = objectAt(given, field);
  if (type !== 'function') refuse(field, `the policy calls functions, not ${JSON.stringify(type)}`);
  return toolAt(described, `${field}.function`, 'parameters');
}

/** @throws BadRequest */
export function readMessage(given: unknown, index: number): SentMessage {
  const field = `messages[${index}]`;
  const { role, content, tool_calls, tool_call_id } = objectAt(given, field);
  const text = textAt(content, `${field}.content`);
  if (role === 'system' || role === 'developer') return { role: 'system', text };
  if (role === 'user') return { role, text };
  if (role === 'tool') return { role, text, id: stringAt(tool_call_id, `${field}.tool_call_id`) };
  if (role !== 'assistant') throw new BadRequest(`${field}.role`, `${field}.role is unknown.`);
  const calls =
    tool_calls === null || tool_calls === undefined ? [] : arrayAt(tool_calls, `${field}.tool_calls`);
  return { role, text, calls: calls.map((call, i) => readCall(call, `${field}.tool_calls[${i}]`)) };
}

function readCall(given: unknown, field: string): SentCall {
  const { id, function: called } = objectAt(given, field);
  const { name, arguments: args } = objectAt(called, `${field}.function`);
  return {
    id: stringAt(id, `${field}.id`),
    name: stringAt(name, `${field}.function.name`),
    arguments: stringAt(args, `${field}.function.arguments`),
  };
}

function headOf({ model }: ModelRequest, object: string): Record<string, unknown> {
  return { id: mintId('chatcmpl'), object, created: unixSeconds(), model };
}

function messageOf({ text, reasoning, calls, isCut }: ModelReply): {
  message: object;
  finish_reason: string;
} {
  const tool_calls = calls.map(({ id, name, arguments: args }) => ({
    id,
    type: 'function',
    function: { name, arguments: args },
  }));
  const hasCalls = calls.length > 0;
  const content = text === '' && hasCalls ? null : text;
  const message = {
    role: 'assistant',
    content,
    // vLLM, SGLang and DeepSeek name it so.
    ...(reasoning !== undefined && { reasoning_content: reasoning }),
    ...(hasCalls && { tool_calls }),
  };
  return { message, finish_reason: isCut ? 'length' : hasCalls ? 'tool_calls' : 'stop' };
}

function usageIn(reply: ModelReply): object {
  const { prompt, completion } = usageOf(reply);
  return { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion };
}

function logprobsOf({ tokens }: ModelReply, { logprobs }: ModelRequest): object | null {
  if (!logprobs || !tokens) return null;
  return { content: tokenLogprobs(tokens, null) };
}
