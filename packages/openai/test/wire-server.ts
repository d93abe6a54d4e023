/** A server on loopback that speaks the wire of vLLM or of llama.cpp as it was recorded, over a model of arithmetic. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createRng } from '@toolenv/core';

export interface WireRequest {
  path: string;
  body: Record<string, unknown>;
  headers: IncomingMessage['headers'];
}

/** A reply in place of the server's own; `hang` sends nothing, `drop` closes the connection. */
export type Intercepted =
  | { status: number; headers?: Record<string, string>; body: unknown }
  | 'hang'
  | 'drop';

export interface WireOptions {
  flavour?: 'vllm' | 'llama.cpp';
  contextLength?: number;
  /** vLLM's `--logprobs-mode`. */
  processedLogprobs?: boolean;
  /** Whether the chat template has tools. Without, llama.cpp ignores them in silence. */
  tools?: boolean;
  /** The message of the assistant to a chat request, whose tokens are its words. */
  speak?(body: Record<string, unknown>): { content: string | null; tool_calls?: unknown[] };
  intercept?(request: WireRequest, number: number): Intercepted | undefined;
  /** Milliseconds of a reply. */
  delay?: number;
}

/** What tests read of a reply. */
export interface WireReply {
  choices: {
    token_ids: number[];
    logprobs: { token_logprobs: number[]; content: { id: number; logprob: number }[] };
  }[];
  usage: { prompt_tokens: number; completion_tokens: number };
}

export interface WireServer extends AsyncDisposable {
  url: string;
  requests: WireRequest[];
  /** Those of its own. */
  replies: WireReply[];
  /** Largest number of requests that were open at once. */
  maxConcurrency: number;
}

/** The tokens of the tiny policy: its end of a turn is 845. */
export const vocabularySize = 854;
const endToken = 845;
const alternatives = 5;

export async function startWireServer(options: WireOptions = {}): Promise<WireServer> {
  const requests: WireRequest[] = [];
  let open = 0;
  const server = createServer(async (incoming, outgoing) => {
    const parts: Buffer[] = [];
    for await (const part of incoming) parts.push(part as Buffer);
    const text = Buffer.concat(parts).toString();
    const request = {
      path: incoming.url!,
      body: text === '' ? {} : JSON.parse(text),
      headers: incoming.headers,
    };
    const number = requests.push(request) - 1;
    open += 1;
    started.maxConcurrency = Math.max(started.maxConcurrency, open);
    if (options.delay) await new Promise((resolve) => setTimeout(resolve, options.delay));
    open -= 1;
    const own = options.intercept?.(request, number);
    if (own === 'hang') return;
    if (own === 'drop') return void incoming.socket.destroy();
    if (own) return reply(outgoing, own.status, own.body, own.headers);
    const { status, body } = answer(request, options);
    started.replies.push(body as WireReply);
    reply(outgoing, status, body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const started: WireServer = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    requests,
    replies: [],
    maxConcurrency: 0,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return started;
}

function reply(
  outgoing: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): void {
  const isText = typeof body === 'string';
  outgoing.writeHead(status, { 'content-type': isText ? 'text/plain' : 'application/json', ...headers });
  outgoing.end(isText ? body : JSON.stringify(body));
}

function answer({ path, body }: WireRequest, options: WireOptions): { status: number; body: unknown } {
  const { flavour = 'vllm', contextLength = 1024 } = options;
  if (path === '/v1/models') return { status: 200, body: models(flavour, contextLength) };
  if (path === '/v1/completions') return completion(body, options);
  if (path === '/v1/chat/completions') return chatCompletion(body, options);
  return { status: 404, body: { detail: 'Not Found' } };
}

function models(flavour: 'vllm' | 'llama.cpp', contextLength: number): unknown {
  const own =
    flavour === 'vllm'
      ? { max_model_len: contextLength }
      : { meta: { n_ctx: contextLength, n_vocab: vocabularySize } };
  return { object: 'list', data: [{ id: 'tiny', object: 'model', owned_by: flavour, ...own }] };
}

function overflow(flavour: 'vllm' | 'llama.cpp', prompt: number, context: number, asked: number): unknown {
  if (flavour === 'llama.cpp') {
    const message = `request (${prompt} tokens) exceeds the available context size (${context} tokens), try increasing it`;
    return {
      error: {
        code: 400,
        message,
        type: 'exceed_context_size_error',
        n_prompt_tokens: prompt,
        n_ctx: context,
      },
    };
  }
  const message = `'max_tokens' or 'max_completion_tokens' is too large: ${asked}. This model's maximum context length is ${context} tokens and your request has ${prompt} input tokens (${asked} > ${context} - ${prompt}).`;
  return { error: { message, type: 'BadRequestError', param: 'max_tokens', code: 400 } };
}

/** Logits that depend on the last two tokens, so that a wrong history gives other actions. */
function distribution(context: readonly number[], temperature: number): { id: number; logprob: number }[] {
  const rng = createRng(context.length, 'logits', context.at(-1)!, context.at(-2) ?? 0);
  const logits = Array.from(
    { length: vocabularySize },
    (_, id) => (id === endToken ? 5 : 0) + 6 * rng.float(),
  );
  const scaled = logits.map((logit) => logit / temperature);
  const greatest = Math.max(...scaled);
  const sum = scaled.reduce((total, logit) => total + Math.exp(logit - greatest), 0);
  return scaled.map((logit, id) => ({ id, logprob: logit - greatest - Math.log(sum) }));
}

function draw(distribution: readonly { id: number; logprob: number }[], share: number): number {
  let left = share;
  for (const { id, logprob } of distribution) {
    left -= Math.exp(logprob);
    if (left < 0) return id;
  }
  return distribution.at(-1)!.id;
}

function completion(
  body: Record<string, unknown>,
  { flavour = 'vllm', contextLength = 1024, processedLogprobs = false }: WireOptions,
): { status: number; body: unknown } {
  const {
    prompt,
    max_tokens: most,
    temperature,
    seed,
  } = body as {
    prompt: number[];
    max_tokens: number;
    temperature: number;
    seed: number;
  };
  if (prompt.length >= contextLength) {
    return { status: 400, body: overflow(flavour, prompt.length, contextLength, most) };
  }
  if (body.echo === true && flavour === 'vllm') return { status: 200, body: echo(prompt, body) };
  const ids: number[] = [];
  const raw: { id: number; logprob: number; tops: { id: number; logprob: number }[] }[] = [];
  while (ids.length < Math.min(most, contextLength - prompt.length) && ids.at(-1) !== endToken) {
    const context = [...prompt, ...ids];
    const drawn = distribution(context, temperature || 1);
    const shown = processedLogprobs ? drawn : distribution(context, 1);
    const best = [...drawn].sort((a, b) => b.logprob - a.logprob);
    const id =
      forced(body, ids.length) ??
      (temperature === 0 ? best[0]!.id : draw(drawn, createRng(seed, 'draw', ids.length).float()));
    ids.push(id);
    const tops = [...shown].sort((a, b) => b.logprob - a.logprob).slice(0, alternatives);
    raw.push({ id, logprob: shown[id]!.logprob, tops });
  }
  const usage = {
    prompt_tokens: prompt.length,
    completion_tokens: ids.length,
    total_tokens: prompt.length + ids.length,
  };
  const finish_reason = ids.at(-1) === endToken ? 'stop' : 'length';
  const text = ids.map((id) => `<${id}>`).join('');
  const choice = flavour === 'vllm' ? vllmChoice(body, ids, raw) : llamaChoice(raw);
  return {
    status: 200,
    body: {
      id: 'cmpl-1',
      object: 'text_completion',
      usage,
      choices: [{ index: 0, text, finish_reason, ...choice }],
    },
  };
}

/** The token that a grammar of llama.cpp demands at this place, or that a bias chooses behind it. */
function forced(
  { grammar = '', logit_bias: bias }: Record<string, unknown>,
  place: number,
): number | undefined {
  const demanded = [...String(grammar).matchAll(/<\[(\d+)\]>/g)].map(([, id]) => Number(id));
  return demanded[place] ?? (bias as [number, number][] | undefined)?.[0]?.[0];
}

/** A prompt with its log-probabilities, which are of temperature 1, and no token more. */
function echo(prompt: number[], body: Record<string, unknown>): object {
  const token_logprobs = prompt.map((id, t) =>
    t === 0 ? null : distribution(prompt.slice(0, t), 1)[id]!.logprob,
  );
  const text = prompt.map((id) => `<${id}>`).join('');
  const exact = body.return_token_ids === true ? { token_ids: [], prompt_token_ids: prompt } : {};
  const usage = { prompt_tokens: prompt.length, completion_tokens: 1, total_tokens: prompt.length + 1 };
  return {
    usage,
    choices: [{ index: 0, text, finish_reason: 'length', logprobs: { token_logprobs }, ...exact }],
  };
}

type Scored = { id: number; logprob: number; tops: { id: number; logprob: number }[] }[];

function vllmChoice(body: Record<string, unknown>, ids: number[], scored: Scored): object {
  const logprobs = {
    text_offset: scored.map((_, t) => t),
    token_logprobs: scored.map(({ logprob }) => logprob),
    tokens: ids.map((id) => `<${id}>`),
    top_logprobs: scored.map(({ tops }) =>
      Object.fromEntries(tops.map(({ id, logprob }) => [`<${id}>`, logprob])),
    ),
  };
  const exact = body.return_token_ids === true ? { token_ids: ids, prompt_token_ids: body.prompt } : {};
  return { logprobs, stop_reason: null, prompt_logprobs: null, ...exact };
}

function llamaChoice(scored: Scored): object {
  const entry = ({ id, logprob }: { id: number; logprob: number }) => ({
    id,
    token: `<${id}>`,
    bytes: [],
    logprob,
  });
  return {
    logprobs: { content: scored.map((each) => ({ ...entry(each), top_logprobs: each.tops.map(entry) })) },
  };
}

function chatCompletion(
  body: Record<string, unknown>,
  { flavour = 'vllm', contextLength = 1024, tools = true, speak }: WireOptions,
): { status: number; body: unknown } {
  const { messages, tools: given } = body as { messages: unknown[]; tools?: unknown[] };
  const words = (value: unknown) => (value === undefined ? 0 : JSON.stringify(value).split(/\W+/).length);
  const prompt = words(messages) + (tools ? words(given) : 0);
  const most = (body.max_tokens ?? body.max_completion_tokens) as number;
  const isStrict = flavour === 'vllm' ? prompt + most > contextLength : prompt >= contextLength;
  if (isStrict) return { status: 400, body: overflow(flavour, prompt, contextLength, most) };
  const said = speak?.(body) ?? { content: spoken(body, most) };
  const generated = Math.min(most, words(said));
  const finish_reason = said.tool_calls ? 'tool_calls' : generated === most ? 'length' : 'stop';
  const usage = {
    prompt_tokens: prompt,
    completion_tokens: generated,
    total_tokens: prompt + generated,
    prompt_tokens_details: { cached_tokens: 1 },
  };
  const choices = [{ index: 0, message: { role: 'assistant', ...said }, finish_reason }];
  return { status: 200, body: { id: 'chatcmpl-1', object: 'chat.completion', choices, usage } };
}

/** Words drawn by the seed from the conversation; greedy words without a seed. */
function spoken({ messages, seed, temperature }: Record<string, unknown>, most: number): string {
  const rng = createRng(temperature === 0 ? 0 : Number(seed), 'words', JSON.stringify(messages));
  return Array.from({ length: Math.min(most, 4) }, () => `word${rng.int(100)}`).join(' ');
}
