/** openAiPolicy: opens a model on an OpenAI-compatible server as a policy. */
import { type Observation, type Policy, type PolicySpec, ToolEnvError } from '@toolenv/core';
import type { PolicyHandle } from '@toolenv/core/plugins';
import type { TokenChat } from '@toolenv/core/remote';
import { Deadline } from '@toolenv/core/tools';
import { findModel, probeCapabilities } from './capabilities.ts';
import { chatPolicy } from './chat-policy.ts';
import { Server, type ServerOptions } from './server.ts';
import { tokenPolicy } from './token-policy.ts';
import { probeTokens } from './token-reply.ts';
import { pricesOf, readPriceTable } from './usage-count.ts';

export interface OpenAiPolicyOptions extends ServerOptions {
  /** Default: the only model of the server. */
  model?: string | undefined;
  /** File of prices, as `readPrices` takes it. `inputPrice`, `cachedPrice` and `outputPrice` win over the file. */
  prices?: string | undefined;
  /** Tokens of a prompt and its action together. Default: what the server tells; a server that does not tell refuses by itself. */
  contextLength?: number | undefined;
  /** Sends the images of observations. Default false: the policy gets words instead. */
  sendImages?: boolean | undefined;
  /** `native`: the server's own tool calls. `text`: tools and calls are text. Default: `native` where the model reads tools. */
  toolCalls?: 'auto' | 'native' | 'text' | undefined;
  /**
   * Makes prompts of token ids, so that actions have tokens and log-probabilities, which training needs. What `openChat` of
   * `@toolenv/policy/chat` gives.
   */
  tokens?: { chat: TokenChat; contextLength: number; vocabularySize: number } | undefined;
  /** Ends the opening, with its reason. */
  signal?: AbortSignal | undefined;
  /** Milliseconds in which the server must have answered the questions of the opening. Default: unlimited. */
  deadline?: number | undefined;
}

/**
 * Asks the server a few times for one token, to learn what it can do.
 * @throws ToolEnvError `usage.model_*` and `infrastructure.model_*`, naming the remedy.
 */
export async function openAiPolicy(options: OpenAiPolicyOptions): Promise<PolicyHandle> {
  const table = options.prices === undefined ? {} : await readPriceTable(options.prices);
  const server = new Server(options);
  const { signal: parent, deadline: after } = options;
  const reason = () => {
    const message = `${server.url} has not said in ${after! / 1000} s what it can do: start the server, or raise --deadline.`;
    return new ToolEnvError('infrastructure.model_unreachable', message);
  };
  const deadline = new Deadline({ ...(parent && { parent }), ...(after && { after }), reason });
  server.opening = deadline.signal;
  const open = options.tokens ? openTokens : openChatPolicy;
  const { policy, model } = await deadline.race(() => open(server, options)).finally(() => deadline.clear());
  server.opening = undefined;
  const { inputPrice, cachedPrice, outputPrice } = pricesOf(table, model);
  const { usage } = server;
  usage.prices = {
    inputPrice: options.inputPrice ?? inputPrice,
    cachedPrice: options.cachedPrice ?? cachedPrice,
    outputPrice: options.outputPrice ?? outputPrice,
  };
  return {
    ...policy,
    get usage() {
      return { ...(options.cache !== undefined && { cachedReplies: 0 }), ...usage.total };
    },
    close: async () => {},
  };
}

interface OpenedModel {
  policy: Policy;
  /** Its name, which the server may have told. */
  model: string;
}

async function openChatPolicy(
  server: Server,
  { model: wanted, contextLength: given, toolCalls = 'auto', sendImages = false }: OpenAiPolicyOptions,
): Promise<OpenedModel> {
  const probes = toolCalls === 'auto';
  const { model, contextLength, refused, tools } = await probeCapabilities(server, wanted, probes);
  const text = specOf(server, model, given ?? contextLength);
  const spec = sendImages ? { ...text, capabilities: { images: true } } : text;
  const nativeTools = probes ? tools : toolCalls === 'native';
  return { policy: chatPolicy({ server, spec, model, refused, nativeTools }), model };
}

async function openTokens(
  server: Server,
  { model: wanted, contextLength: given, tokens, sendImages = false, cache }: OpenAiPolicyOptions,
): Promise<OpenedModel> {
  if (cache !== undefined) {
    const message =
      'Exact tokens are for training, which needs new samples: leave out cache or the tokenizer.';
    throw new ToolEnvError('usage.bad_option', message);
  }
  if (sendImages) {
    const message = 'Prompts of token ids have no images: leave out sendImages or the tokenizer.';
    throw new ToolEnvError('usage.bad_option', message);
  }
  const { chat, contextLength: trained, vocabularySize } = tokens!;
  const { model, contextLength = trained } = await findModel(server, wanted);
  const spec = {
    ...specOf(server, model, given ?? Math.min(contextLength, trained)),
    ...(chat.toldTools === false && { capabilities: { knownTools: true } }),
  };
  const greeting: Observation = { messages: [{ role: 'user', content: 'Hello' }], tools: [] };
  const logprobsAt = await probeTokens(server, model, { prompt: chat.prompt(greeting), vocabularySize });
  return { policy: tokenPolicy({ server, spec, model, chat, vocabularySize, logprobsAt }), model };
}

function specOf({ url }: Server, model: string, contextLength = Number.MAX_SAFE_INTEGER): PolicySpec {
  if (contextLength >= 1) return { name: `openai:${url}#${model}`, contextLength, usesSeparateSampler: true };
  const message = `contextLength is ${contextLength}; give a whole number above 0.`;
  throw new ToolEnvError('usage.bad_option', message);
}
