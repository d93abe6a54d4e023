/** languageModelPolicy: any language model of the AI SDK as a policy for evaluation. */
import {
  type Action,
  type Message,
  messageOf,
  type Observation,
  type SamplingOptions,
  ToolEnvError,
} from '@toolenv/core';
import type { PolicyHandle } from '@toolenv/core/plugins';
import { tryObject } from '@toolenv/core/schemas';
import { withTextTools } from '@toolenv/core/tools';
import { isTransient, retryAfter } from '@toolenv/serving/client';
import { refuseConstrainedCalls } from './capabilities.ts';
import { errorOf, type Json, refusalOf, transientError } from './refusal.ts';
import { type Attempt, type QueueOptions, RequestQueue } from './request-queue.ts';
import { ResponseCache } from './response-cache.ts';
import { type Prices, UsageCount } from './usage-count.ts';
import { readTurn, wireId } from './wire-messages.ts';

/** The part of `LanguageModelV2`, `V3` and `V4` of `@ai-sdk/provider` that is used here: providers of the AI SDK give such models. */
export interface LanguageModel {
  readonly specificationVersion: string;
  readonly provider: string;
  readonly modelId: string;
  doGenerate(options: LanguageModelCall): PromiseLike<LanguageModelReply>;
}

export interface LanguageModelCall {
  prompt: LanguageModelMessage[];
  maxOutputTokens: number;
  temperature: number;
  topP?: number;
  topK?: number;
  seed: number;
  stopSequences?: string[];
  tools?: { type: 'function'; name: string; description: string; inputSchema: Record<string, unknown> }[];
  abortSignal?: AbortSignal;
}

type Text = { type: 'text'; text: string };
type CallPart = { type: 'tool-call'; toolCallId: string; toolName: string; input: unknown };
type ResultPart = {
  type: 'tool-result';
  toolCallId: string;
  toolName: string;
  output: { type: 'text'; value: string };
};

export type LanguageModelMessage =
  | { role: 'system'; content: string }
  | { role: 'user'; content: Text[] }
  | { role: 'assistant'; content: (Text | CallPart)[] }
  | { role: 'tool'; content: ResultPart[] };

export interface LanguageModelReply {
  readonly content: readonly {
    readonly type: string;
    readonly text?: unknown;
    readonly toolName?: unknown;
    readonly input?: unknown;
    readonly providerExecuted?: unknown;
  }[];
  /** A word, or since V3 an object with `unified`. */
  readonly finishReason: unknown;
  /** Numbers of tokens, or since V3 objects with `total`. */
  readonly usage: unknown;
}

export interface LanguageModelPolicyOptions extends QueueOptions, Prices {
  /** Tokens of a prompt and its action together. Default: unlimited; the service refuses by itself. */
  contextLength?: number | undefined;
  /** `native`: the service's own tool calls. `text`: tools and calls are text. Default `native`. */
  toolCalls?: 'native' | 'text' | undefined;
  /**
   * Folder where replies are kept by request, and read instead of asking again. Policies of `openai:` may share it. The names of the provider
   * and the model are part of the request; other settings of the model object are not, so give models that differ in them other folders.
   */
  cache?: string | undefined;
}

/**
 * `languageModelPolicy(anthropic('claude-opus-4'))`. Actions have no tokens, so that it cannot be trained.
 * @throws ToolEnvError `usage.language_model` for something else than a model.
 */
export function languageModelPolicy(
  model: LanguageModel,
  options: LanguageModelPolicyOptions = {},
): PolicyHandle {
  if (typeof model?.doGenerate !== 'function') {
    const message =
      "languageModelPolicy takes a model of the AI SDK: give the model itself, as anthropic('…'), not its name.";
    throw new ToolEnvError('usage.language_model', message);
  }
  const { contextLength = Number.MAX_SAFE_INTEGER, toolCalls = 'native' } = options;
  const name = `${model.provider}/${model.modelId}`;
  const usage = new UsageCount(options);
  const queue = new RequestQueue(options);
  const cache = options.cache === undefined ? undefined : new ResponseCache(options.cache);
  return {
    spec: { name, contextLength },
    async act(observation, sampling): Promise<Action> {
      const { signal, seed: sample } = sampling;
      const call = callOf(observation, sampling, { isText: toolCalls === 'text', name });
      const spoken = observation.messages.some(({ role }) => role === 'assistant');
      const part = usage.part();
      const ask = async () => {
        const reply = await queue.run(() => attempt(model, call, { name, spoken }), { signal, usage: part });
        return { body: bodyOf(reply, { name, usage: part }) };
      };
      const { abortSignal, ...body } = call;
      const request = { url: `ai-sdk:${model.provider}`, path: 'doGenerate', sample };
      const answer = cache
        ? cache.answer({ ...request, body: { model: model.modelId, ...body } }, part, ask)
        : ask();
      const { body: reply = {} } = await answer;
      return { ...actionOf(reply, observation, name), usage: part.turn };
    },
    get usage() {
      return { ...(cache && { cachedReplies: 0 }), ...usage.total };
    },
    close: async () => {},
  };
}

function callOf(
  { messages, tools }: Observation,
  {
    maxTokens,
    temperature,
    topP = 1,
    topK,
    minP = 0,
    constrainCalls,
    seed,
    stop = [],
    signal,
  }: SamplingOptions,
  { isText, name }: { isText: boolean; name: string },
): LanguageModelCall {
  if (minP !== 0)
    throw new ToolEnvError('usage.model_request', `${name} has no min-p: leave the option out.`);
  refuseConstrainedCalls({ constrainCalls }, name);
  const told = isText ? withTextTools({ messages, tools }) : messages;
  const described = isText ? [] : tools;
  const stopSequences = stop.filter((text) => text !== '');
  return {
    prompt: promptOf(told),
    maxOutputTokens: maxTokens,
    temperature,
    // Services that know one of the two refuse a request with both.
    ...(topP !== 1 && { topP }),
    ...(topK !== undefined && { topK }),
    seed: seed % 2 ** 31,
    ...(stopSequences.length > 0 && { stopSequences }),
    ...(described.length > 0 && { tools: described.map((tool) => ({ type: 'function' as const, ...tool })) }),
    ...(signal && { abortSignal: signal }),
  };
}

/** The results of one turn share a message. */
function promptOf(messages: readonly Message[]): LanguageModelMessage[] {
  const prompt: LanguageModelMessage[] = [];
  let ids = new Map<string, string>();
  for (const [index, message] of messages.entries()) {
    if (message.role === 'assistant') {
      const { content, toolCalls = [] } = message;
      ids = new Map(toolCalls.map(({ id }, call) => [id, wireId(index, call)]));
      const calls = toolCalls.map(
        ({ id, name, arguments: input }): CallPart => ({
          type: 'tool-call',
          toolCallId: ids.get(id)!,
          toolName: name,
          input,
        }),
      );
      const said = content === '' && calls.length > 0 ? [] : [textPart(content)];
      prompt.push({ role: 'assistant', content: [...said, ...calls] });
    } else if (message.role === 'tool') {
      const { content, name, toolCallId } = message;
      const result: ResultPart = {
        type: 'tool-result',
        toolCallId: ids.get(toolCallId) ?? toolCallId,
        toolName: name,
        output: { type: 'text', value: content },
      };
      const last = prompt.at(-1);
      if (last?.role === 'tool') last.content.push(result);
      else prompt.push({ role: 'tool', content: [result] });
    } else if (message.role === 'user') prompt.push({ role: 'user', content: [textPart(message.content)] });
    else prompt.push({ role: 'system', content: message.content });
  }
  return prompt;
}

function textPart(text: string): Text {
  return { type: 'text', text };
}

async function attempt(
  model: LanguageModel,
  call: LanguageModelCall,
  { name, spoken }: { name: string; spoken: boolean },
): Promise<Attempt<LanguageModelReply>> {
  try {
    return { value: await model.doGenerate(call) };
  } catch (error) {
    call.abortSignal?.throwIfAborted();
    // The fields of APICallError of the AI SDK.
    const { statusCode: status, responseBody, responseHeaders, isRetryable } = Object(error);
    if (typeof status !== 'number') {
      const fault = new ToolEnvError('infrastructure.model_unreachable', `${name}: ${messageOf(error)}`, {
        cause: error,
      });
      if (isRetryable === true) return { fault };
      throw fault;
    }
    const text = typeof responseBody === 'string' && responseBody !== '' ? responseBody : messageOf(error);
    const refusal = refusalOf(status, tryObject(text) ?? text);
    if (isRetryable === true || isTransient(status)) {
      return { fault: transientError(refusal, name), after: retryAfter(Object(responseHeaders)) };
    }
    if (status !== 401 && status !== 403) throw errorOf(refusal, name, spoken);
    throw new ToolEnvError('usage.model_key', `${name} refuses the key: ${refusal.message}`, {
      cause: error,
    });
  }
}

/** What is read of a reply, as JSON. Counts its tokens. */
function bodyOf(
  { content, finishReason, usage: given }: LanguageModelReply,
  { name, usage }: { name: string; usage: UsageCount },
): Json {
  if (!Array.isArray(content)) throw withoutContent(name);
  const { inputTokens: input, outputTokens: output, cachedInputTokens: cached } = Object(given);
  usage.addReply(totalOf(input), totalOf(output), cached ?? Object(input).cacheRead);
  const parts = (content as LanguageModelReply['content']).map((part) => {
    const { type, text, toolName, input: args, providerExecuted } = Object(part);
    return { type, text, toolName, input: args, providerExecuted };
  });
  return { content: parts, finishReason: Object(finishReason).unified ?? finishReason };
}

function actionOf({ content, finishReason }: Json, { tools }: Observation, name: string): Action {
  if (!Array.isArray(content)) throw withoutContent(name);
  const parts = content.map((part): Json => Object(part));
  const textOf = (type: string) =>
    parts.map((part) => (part.type === type && typeof part.text === 'string' ? part.text : '')).join('');
  const reasoning = textOf('reasoning');
  const calls = parts
    .filter(({ type, providerExecuted }) => type === 'tool-call' && providerExecuted !== true)
    .map(({ toolName, input: args }) => ({ name: toolName, arguments: args }));
  const said = { content: textOf('text'), calls, isCut: finishReason === 'length' };
  return readTurn({ ...said, ...(reasoning !== '' && { reasoning }) }, tools);
}

function withoutContent(name: string): ToolEnvError {
  return new ToolEnvError('infrastructure.model_reply', `${name} answers without content.`);
}

function totalOf(tokens: unknown): unknown {
  return typeof tokens === 'object' && tokens !== null ? (tokens as { total?: unknown }).total : tokens;
}
