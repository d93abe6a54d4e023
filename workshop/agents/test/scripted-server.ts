/** A model that answers from a script, in the three wire formats. It refuses a request whose history is not what it answered. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';

export interface ScriptedAnswer {
  text?: string;
  calls?: { id: string; name: string; arguments: string }[];
}

export interface SeenRequest {
  path: string;
  headers: Record<string, unknown>;
  // biome-ignore lint/suspicious/noExplicitAny: bodies of three formats, read by tests.
  body: any;
}

// biome-ignore lint/suspicious/noExplicitAny: wire values of three formats.
type Wire = any;

export class ScriptedServer implements AsyncDisposable {
  readonly requests: SeenRequest[] = [];
  /** What was wrong with a request. */
  readonly faults: string[] = [];
  readonly #script: readonly ScriptedAnswer[];
  readonly #apiKey: string;
  /** The items of Responses that were answered, by id. */
  readonly #items = new Map<string, Wire>();
  readonly #server = createServer((request, response) => {
    this.#answer(request, response).catch((error) => {
      this.faults.push(String(error.message));
      response.writeHead(400, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ error: { message: error.message, type: 'invalid_request_error' } }));
    });
  });

  constructor(script: readonly ScriptedAnswer[], apiKey: string) {
    this.#script = script;
    this.#apiKey = apiKey;
  }

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/v1`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const turn = this.requests.length;
    const body = (await json(request)) as Wire;
    const { host: _, ...headers } = request.headers;
    this.requests.push({ path: request.url!, headers, body });
    const key = headers.authorization?.replace('Bearer ', '') ?? headers['x-api-key'];
    if (key !== this.#apiKey) throw new Error(`Request ${turn + 1} has the key ${key}.`);
    const answer = this.#script[turn];
    if (!answer) throw new Error(`The script has ${turn} answers.`);
    const wire = {
      '/v1/chat/completions': chat,
      '/v1/responses': this.#responses,
      '/v1/messages': anthropic,
    }[request.url!.replace(/\?.*/, '')];
    if (!wire) throw new Error(`No path ${request.url}.`);
    const { said, whole, events } = wire(body, answer, turn);
    const expected = this.#script.slice(0, turn).flatMap(flat);
    if (JSON.stringify(said) !== JSON.stringify(expected))
      throw new Error(
        `Request ${turn + 1} repeats ${JSON.stringify(said)} instead of ${JSON.stringify(expected)}.`,
      );
    if (!body.stream) {
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify(whole));
      return;
    }
    response.setHeader('content-type', 'text/event-stream');
    for (const event of events) {
      const name = event.type ? `event: ${event.type}\n` : '';
      response.write(`${name}data: ${event === '[DONE]' ? event : JSON.stringify(event)}\n\n`);
      await new Promise((resolve) => setImmediate(resolve));
    }
    response.end();
  }

  readonly #responses = (body: Wire, answer: ScriptedAnswer, turn: number) => {
    const input = body.input.map((item: Wire) => {
      if (item.type !== 'item_reference') return item;
      const stored = this.#items.get(item.id);
      if (!stored) throw new Error(`No item ${item.id}.`);
      return stored;
    });
    const output: Wire[] = [];
    if (answer.text !== undefined) {
      const part = { type: 'output_text', text: answer.text, annotations: [], logprobs: [] };
      const item = { id: `msg_${turn}`, type: 'message', role: 'assistant', status: 'completed' };
      output.push({ ...item, content: [part] });
    }
    for (const { id, name, arguments: text } of answer.calls ?? []) {
      const item = { id: `fc_${id}`, type: 'function_call', call_id: id, name, arguments: text };
      output.push({ ...item, status: 'completed' });
    }
    for (const item of output) this.#items.set(item.id, item);
    const base = { id: `resp_${turn}`, object: 'response', created_at: 1, model: 'policy', tools: [] };
    const details = {
      input_tokens_details: { cached_tokens: 0 },
      output_tokens_details: { reasoning_tokens: 0 },
    };
    const usage = { input_tokens: 11, output_tokens: 7, total_tokens: 18, ...details };
    const whole = { ...base, status: 'completed', output, usage, incomplete_details: null, error: null };
    const events: Wire[] = [];
    const send = (type: string, event: Wire) =>
      events.push({ type, sequence_number: events.length, ...event });
    send('response.created', { response: { ...base, status: 'in_progress', output: [], usage: null } });
    for (const [output_index, item] of output.entries()) {
      const at = { output_index, item_id: item.id };
      const open = item.type === 'message' ? { content: [] } : { arguments: '' };
      send('response.output_item.added', { output_index, item: { ...item, ...open, status: 'in_progress' } });
      if (item.type === 'message') {
        const part = item.content[0];
        send('response.content_part.added', { ...at, content_index: 0, part: { ...part, text: '' } });
        for (const delta of pieces(part.text))
          send('response.output_text.delta', { ...at, content_index: 0, delta, logprobs: [] });
        send('response.output_text.done', { ...at, content_index: 0, text: part.text, logprobs: [] });
        send('response.content_part.done', { ...at, content_index: 0, part });
      } else {
        for (const delta of pieces(item.arguments))
          send('response.function_call_arguments.delta', { ...at, delta });
        const done = { ...at, name: item.name, arguments: item.arguments };
        send('response.function_call_arguments.done', done);
      }
      send('response.output_item.done', { output_index, item });
    }
    send('response.completed', { response: whole });
    const said = input.flatMap((item: Wire) => {
      if (item.type === 'function_call') return [call(item.call_id, item.arguments)];
      if (item.type === 'function_call_output') return [result(item.call_id, item.output)];
      return item.role === 'assistant' ? [textOf(item.content)] : [];
    });
    return { said, whole, events };
  };
}

/** What a request must repeat of an answer and of the results of its calls, in any format. */
function flat({ text, calls = [] }: ScriptedAnswer): string[] {
  return [
    ...(text ? [text] : []),
    ...calls.map(({ id, arguments: text }) => call(id, text)),
    ...calls.map(({ id, arguments: text }) => result(id, searchResult(JSON.parse(text).query))),
  ];
}

const call = (id: string, text: string) => `${id} ${JSON.stringify(JSON.parse(text))}`;
const result = (id: string, content: Wire) => `${id} = ${textOf(content)}`;
const textOf = (content: Wire): string =>
  typeof content === 'string' ? content : (content ?? []).map((part: Wire) => part.text ?? '').join('');

/** What the search of the tests finds. */
export function searchResult(query: string): string {
  return `Found "${query}".\n1. Zürich — a city\n`;
}

function chat(body: Wire, { text, calls }: ScriptedAnswer, turn: number) {
  const tool_calls = calls?.map(({ id, name, arguments: text }) => ({
    id,
    type: 'function',
    function: { name, arguments: text },
  }));
  const base = { id: `chatcmpl-${turn}`, created: 1, model: 'policy' };
  const usage = { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 };
  const finish_reason = calls ? 'tool_calls' : 'stop';
  const message = { role: 'assistant', content: text ?? null, ...(calls && { tool_calls }) };
  const whole = {
    ...base,
    object: 'chat.completion',
    choices: [{ index: 0, message, logprobs: null, finish_reason }],
    usage,
  };
  const events: Wire[] = [];
  const send = (delta: Wire, finish_reason: string | null = null) =>
    events.push({ ...base, object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason }] });
  send({ role: 'assistant', content: '' });
  for (const content of pieces(text ?? '')) send({ content });
  for (const [index, { id, function: wanted }] of (tool_calls ?? []).entries()) {
    send({
      tool_calls: [{ index, id, type: 'function', function: { name: wanted.name, arguments: '' } }],
    });
    for (const piece of pieces(wanted.arguments))
      send({ tool_calls: [{ index, function: { arguments: piece } }] });
  }
  send({}, finish_reason);
  if (body.stream_options?.include_usage)
    events.push({ ...base, object: 'chat.completion.chunk', choices: [], usage });
  events.push('[DONE]');
  const said = body.messages.flatMap((message: Wire) => {
    if (message.role === 'tool') return [result(message.tool_call_id, message.content)];
    if (message.role !== 'assistant') return [];
    const text = textOf(message.content);
    const calls = (message.tool_calls ?? []).map((one: Wire) => call(one.id, one.function.arguments));
    return [...(text ? [text] : []), ...calls];
  });
  return { said, whole, events };
}

function anthropic(body: Wire, { text, calls = [] }: ScriptedAnswer, turn: number) {
  const content = [
    ...(text === undefined ? [] : [{ type: 'text', text }]),
    ...calls.map(({ id, name, arguments: text }) => ({
      type: 'tool_use',
      id,
      name,
      input: JSON.parse(text),
    })),
  ];
  const usage = { input_tokens: 11, output_tokens: 7 };
  const base = { id: `msg_${turn}`, type: 'message', role: 'assistant', model: 'policy' };
  const stop = { stop_reason: calls.length > 0 ? 'tool_use' : 'end_turn', stop_sequence: null };
  const events: Wire[] = [
    {
      type: 'message_start',
      message: { ...base, content: [], stop_reason: null, stop_sequence: null, usage },
    },
  ];
  for (const [index, block] of content.entries()) {
    const isText = 'text' in block;
    const open = isText ? { type: 'text', text: '' } : { ...block, input: {} };
    events.push({ type: 'content_block_start', index, content_block: open });
    for (const piece of pieces(isText ? block.text! : JSON.stringify((block as Wire).input))) {
      const delta = isText
        ? { type: 'text_delta', text: piece }
        : { type: 'input_json_delta', partial_json: piece };
      events.push({ type: 'content_block_delta', index, delta });
    }
    events.push({ type: 'content_block_stop', index });
  }
  events.push({ type: 'message_delta', delta: stop, usage: { output_tokens: 7 } }, { type: 'message_stop' });
  const said = body.messages.flatMap(({ role, content }: Wire) => {
    if (typeof content === 'string') return role === 'assistant' ? [content] : [];
    return content.flatMap((block: Wire) => {
      if (block.type === 'tool_use') return [call(block.id, JSON.stringify(block.input))];
      if (block.type === 'tool_result') return [result(block.tool_use_id, block.content)];
      return role === 'assistant' ? [block.text] : [];
    });
  });
  return { said, whole: { ...base, content, ...stop, usage }, events };
}

function pieces(text: string): string[] {
  return text.match(/.{1,7}/gsu) ?? [];
}
