/** OpenAI's Responses API. Items are stored by id, because clients name them instead of sending them again. */

import { toolChoiceOf } from './chat-completions.ts';
import {
  BadRequest,
  joinTurns,
  type ModelReply,
  type ModelRequest,
  refuse,
  type SentMessage,
  tokenLogprobs,
  unixSeconds,
  usageOf,
} from './model-request.ts';
import {
  arrayAt,
  distinct,
  expectNone,
  numbersOf,
  objectAt,
  stopAt,
  stringAt,
  textAt,
  toolAt,
} from './read-fields.ts';
import { type Item, mintId, openAiError, type StoredItems, type Wire } from './wire.ts';

/** The items of a request, which its answer is stored with; absent if the client wants nothing stored. */
const inputs: WeakMap<ModelRequest, readonly Item[]> = new WeakMap();

/** A function in a namespace: the policy calls it by both names in one. */
type InNamespace = Pick<Item, 'namespace' | 'name'>;
const namespaces: WeakMap<ModelRequest, ReadonlyMap<string, InNamespace>> = new WeakMap();

export const responses: Wire = {
  conversation({ instructions, tools, tool_choice, ...body }, stored) {
    const first: SentMessage[] =
      typeof instructions === 'string' && instructions !== '' ? [{ role: 'system', text: instructions }] : [];
    return {
      messages: [...first, ...joinTurns(toMessages(itemsOf(body, stored)))],
      tools: tool_choice === 'none' ? [] : distinct(functionsOf(tools)),
    };
  },

  read(body, stored) {
    expectNone(body, ['background', 'conversation', 'prompt'], 'the gateway does not have it');
    const format = Object(Object(body.text).format).type;
    if (format !== undefined && format !== 'text')
      refuse('text.format', 'the policy writes as it was trained to');
    const { stream = false, model, include } = body;
    const conversation = this.conversation(body, stored);
    const request: ModelRequest = {
      ...conversation,
      toolChoice: toolChoiceOf(body.tool_choice, conversation.tools),
      stream: stream === true,
      model: stringAt(model ?? 'policy', 'model'),
      asked: numbersOf(body, ['temperature', 'top_p', 'top_k', 'min_p', 'max_output_tokens', 'seed']),
      stop: stopAt(body.stop, 'stop'),
      usage: true,
      tokenIds: body.return_token_ids === true,
      logprobs: Array.isArray(include) && include.includes('message.output_text.logprobs'),
    };
    if (conversation.tools.length > 0) namespaces.set(request, namesOf(body.tools));
    if (body.store !== false) inputs.set(request, itemsOf(body, stored));
    return request;
  },

  body: (reply, request, stored) => answerOf(reply, request, stored).response,

  *events(reply, request, stored) {
    const { response, output } = answerOf(reply, request, stored);
    let number = 0;
    const event = (type: string, fields: object) =>
      `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: number++, ...fields })}\n\n`;
    const begun = { ...response, status: 'in_progress', output: [], usage: null };
    yield event('response.created', { response: begun });
    yield event('response.in_progress', { response: begun });
    for (const [output_index, item] of output.entries()) {
      const at = { output_index, item_id: item.id };
      if (item.type === 'message') {
        const [part] = item.content as { text: string }[];
        const text = { ...at, content_index: 0 };
        yield event('response.output_item.added', {
          output_index,
          item: { ...item, status: 'in_progress', content: [] },
        });
        yield event('response.content_part.added', { ...text, part: { ...part, text: '' } });
        yield event('response.output_text.delta', { ...text, delta: part!.text, logprobs: [] });
        yield event('response.output_text.done', { ...text, text: part!.text, logprobs: [] });
        yield event('response.content_part.done', { ...text, part });
      } else if (item.type === 'reasoning') {
        const [part] = item.content as { text: string }[];
        const text = { ...at, content_index: 0 };
        const started = { ...item, status: 'in_progress', content: [] };
        yield event('response.output_item.added', { output_index, item: started });
        yield event('response.reasoning_text.delta', { ...text, delta: part!.text });
        yield event('response.reasoning_text.done', { ...text, text: part!.text });
      } else {
        yield event('response.output_item.added', {
          output_index,
          item: { ...item, status: 'in_progress', arguments: '' },
        });
        yield event('response.function_call_arguments.delta', { ...at, delta: item.arguments });
        yield event('response.function_call_arguments.done', {
          ...at,
          name: item.name,
          arguments: item.arguments,
        });
      }
      yield event('response.output_item.done', { output_index, item });
    }
    yield event(reply.isCut ? 'response.incomplete' : 'response.completed', { response });
  },

  heartbeat: ': the policy is busy\n\n',

  error: openAiError,
};

/** The items of a request, with those that it names. */
export function itemsOf(body: Record<string, unknown>, stored: StoredItems): Item[] {
  const { previous_response_id: id, input } = body;
  const before = id === undefined || id === null ? [] : stored.answer(stringAt(id, 'previous_response_id'));
  if (!before)
    throw new BadRequest('previous_response_id', `previous_response_id: no answer ${id} is stored here.`);
  if (typeof input === 'string') return [...before, { type: 'message', role: 'user', content: input }];
  const given = arrayAt(input, 'input').map((each, i) => {
    const item = objectAt(each, `input[${i}]`);
    if (item.type !== 'item_reference') return item;
    const found = stored.item(stringAt(item.id, `input[${i}].id`));
    if (found) return found;
    throw new BadRequest(`input[${i}]`, `input[${i}]: no item ${item.id} is stored here.`);
  });
  return [...before, ...given];
}

/**
 * A turn of the assistant is several items: its text, and each of its calls.
 * @throws BadRequest
 */
export function toMessages(items: readonly Item[]): SentMessage[] {
  const messages: SentMessage[] = [];
  for (const [i, item] of items.entries()) {
    const field = `input[${i}]`;
    const { type = 'message', role, content, call_id, namespace, name, arguments: args, output } = item;
    if (type === 'reasoning') continue;
    if (type === 'function_call') {
      const call = {
        id: stringAt(call_id, `${field}.call_id`),
        name: nameIn(namespace, stringAt(name, `${field}.name`)),
        arguments: stringAt(args, `${field}.arguments`),
      };
      messages.push({ role: 'assistant', text: '', calls: [call] });
    } else if (type === 'function_call_output') {
      const id = stringAt(call_id, `${field}.call_id`);
      messages.push({ role: 'tool', id, text: textAt(output, `${field}.output`) });
    } else if (type === 'message') {
      const text = textAt(content, `${field}.content`);
      if (role === 'system' || role === 'developer') messages.push({ role: 'system', text });
      else if (role === 'user') messages.push({ role, text });
      else if (role !== 'assistant') throw new BadRequest(`${field}.role`, `${field}.role is unknown.`);
      else messages.push({ role, text, calls: [] });
    } else refuse(field, `the policy does not read items of the type ${JSON.stringify(type)}`);
  }
  return messages;
}

type Tool = ReturnType<typeof toolAt>;

/** The functions that the policy may call, those in namespaces included: Codex gives each MCP server a namespace. */
function functionsOf(given: unknown): Tool[] {
  return arrayAt(given ?? [], 'tools').flatMap((each, index) => {
    const field = `tools[${index}]`;
    const { type, name, tools } = objectAt(each, field);
    if (type !== 'namespace') return [readTool(each, field)];
    const namespace = stringAt(name, `${field}.name`);
    return arrayAt(tools, `${field}.tools`).map((inner, place) => {
      const tool = readTool(inner, `${field}.tools[${place}]`);
      return { ...tool, name: nameIn(namespace, tool.name) };
    });
  });
}

/** By the name that the policy has for it. @param given Tools that were read before. */
function namesOf(given: unknown): ReadonlyMap<string, InNamespace> {
  const spaces = (given as { type: string; name: string; tools: { name: string }[] }[]).filter(
    ({ type }) => type === 'namespace',
  );
  return new Map(
    spaces.flatMap(({ name: namespace, tools }) =>
      tools.map(({ name }) => [nameIn(namespace, name), { namespace, name }] as const),
    ),
  );
}

function nameIn(namespace: unknown, name: string): string {
  return typeof namespace === 'string' ? `${namespace}__${name}` : name;
}

function readTool(given: unknown, field: string): Tool {
  const { type } = objectAt(given, field);
  if (type !== 'function') refuse(field, `the policy calls functions, not ${JSON.stringify(type)}`);
  return toolAt(given, field, 'parameters');
}

/** The answer with its items, which are stored. */
function answerOf(
  reply: ModelReply,
  request: ModelRequest,
  stored: StoredItems,
): { response: object; output: Item[] } {
  const { text, reasoning, calls, isCut, tokens } = reply;
  const output: Item[] = [];
  if (reasoning !== undefined) {
    const content = [{ type: 'reasoning_text', text: reasoning }];
    output.push({ id: mintId('rs'), type: 'reasoning', summary: [], content, status: 'completed' });
  }
  if (text !== '' || calls.length === 0) {
    const part = { type: 'output_text', text, annotations: [], logprobs: logprobsOf(reply, request) };
    output.push({
      id: mintId('msg'),
      type: 'message',
      role: 'assistant',
      status: 'completed',
      content: [part],
    });
  }
  for (const { id, name, arguments: args } of calls) {
    output.push({
      id: mintId('fc'),
      type: 'function_call',
      call_id: id,
      ...(namespaces.get(request)?.get(name) ?? { name }),
      arguments: args,
      status: 'completed',
    });
  }
  const id = mintId('resp');
  const input = inputs.get(request);
  if (input) stored.keep(id, input, output);
  const { prompt, completion } = usageOf(reply);
  const response = {
    id,
    object: 'response',
    created_at: unixSeconds(),
    status: isCut ? 'incomplete' : 'completed',
    error: null,
    incomplete_details: isCut ? { reason: 'max_output_tokens' } : null,
    instructions: null,
    metadata: {},
    model: request.model,
    output,
    parallel_tool_calls: true,
    tool_choice: 'auto',
    tools: [],
    usage: {
      input_tokens: prompt,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: completion,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: prompt + completion,
    },
    ...(request.tokenIds &&
      tokens && { prompt_token_ids: [...tokens.prompt], token_ids: [...tokens.action] }),
  };
  return { response, output };
}

function logprobsOf({ tokens }: ModelReply, { logprobs }: ModelRequest): object[] {
  if (!logprobs || !tokens) return [];
  return tokenLogprobs(tokens, []);
}
