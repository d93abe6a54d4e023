/** Token ids and log-probabilities in the replies of `/completions`: those of vLLM and of llama.cpp. */
import { ToolEnvError } from '@toolenv/core';
import { type SampledTokens, tokensMistake } from '@toolenv/core/remote';
import { samplingFields } from './capabilities.ts';
import { errorOf, type Json } from './refusal.ts';
import type { Server } from './server.ts';

/** What is compared with a reply. */
export interface TokenRequest {
  prompt: Int32Array;
  maxTokens: number;
  vocabularySize: number;
}

/**
 * The sampled tokens. Servers leave tokens out or add some in silence, so every count that the reply has is compared.
 * @throws ToolEnvError `infrastructure.model_tokens` if ids, log-probabilities and counts do not agree.
 */
export function readTokenReply(body: Json, asked: TokenRequest, who: string): SampledTokens {
  const choice = Object(Array.isArray(body.choices) ? body.choices[0] : undefined);
  const { ids, logprobs } = sampled(choice);
  const wrong = mistake(ids, logprobs, { choice, usage: Object(body.usage), asked });
  if (wrong) throw new ToolEnvError('infrastructure.model_tokens', `${who} ${wrong}.`);
  return {
    tokens: Int32Array.from(ids as number[]),
    // Rounding may leave a probability a little above 1.
    logprobs: Float32Array.from(logprobs as number[], (logprob) => Math.min(0, logprob)),
    isCut: choice.finish_reason === 'length',
  };
}

function sampled(choice: Record<string, unknown>): { ids: unknown; logprobs: unknown } {
  const { content, token_logprobs } = Object(choice.logprobs);
  if (!Array.isArray(content)) return { ids: choice.token_ids, logprobs: token_logprobs };
  return { ids: content.map((each) => each?.id), logprobs: content.map((each) => each?.logprob) };
}

function mistake(
  ids: unknown,
  logprobs: unknown,
  {
    choice,
    usage,
    asked,
  }: { choice: Record<string, unknown>; usage: Record<string, unknown>; asked: TokenRequest },
): string | undefined {
  const { prompt } = asked;
  if (!Array.isArray(ids) || ids.length === 0) return 'gives no token ids';
  if (!Array.isArray(logprobs)) return 'gives no log-probabilities';
  const wrong = tokensMistake(ids, logprobs, asked);
  if (wrong) return wrong;
  const { completion_tokens: generated, prompt_tokens: read } = usage;
  if (typeof generated === 'number' && generated !== ids.length)
    return `generated ${generated} tokens and gives ${ids.length}`;
  if (typeof read === 'number' && read !== prompt.length)
    return `read a prompt of ${read} tokens, and ${prompt.length} were sent`;
  const { prompt_token_ids: echoed } = choice;
  if (Array.isArray(echoed) && echoed.some((id, t) => id !== prompt[t]))
    return 'read other prompt tokens than were sent';
  return undefined;
}

/** The most likely first tokens with their log-probabilities. */
export function firstAlternatives(body: Json): Map<string, number> {
  const choice = Object(Array.isArray(body.choices) ? body.choices[0] : undefined);
  const { content, top_logprobs: tops } = Object(choice.logprobs);
  const listed = Object(Array.isArray(content) ? content[0] : undefined).top_logprobs;
  const entries: [string, unknown][] = Array.isArray(listed)
    ? listed.map((each) => [String(each?.id), each?.logprob])
    : Object.entries(Object(Array.isArray(tops) ? tops[0] : undefined));
  return new Map(entries.filter((entry): entry is [string, number] => typeof entry[1] === 'number'));
}

/**
 * `one`: before the temperature, as vLLM's `raw_logprobs` and llama.cpp. `sampling`: after it, as vLLM's
 * `processed_logprobs` and SGLang.
 */
export type LogprobTemperature = 'one' | 'sampling';

/** Fields with which servers give token ids and log-probabilities; they ignore what they do not know. */
export const tokenFields: Json = { logprobs: 1, return_token_ids: true };

const noFields: ReadonlySet<string> = new Set();

/**
 * Compares the same distribution at two temperatures.
 * @param otherwise What else a user may do, at the end of a sentence.
 * @throws ToolEnvError `usage.model_tokens` if ids or log-probabilities are missing or do not agree with the counts.
 */
export async function probeTokens(
  server: Server,
  model: string,
  { prompt, vocabularySize }: Pick<TokenRequest, 'prompt' | 'vocabularySize'>,
  otherwise = 'leave --tokenizer out, which only training needs',
): Promise<LogprobTemperature> {
  const maxTokens = 2;
  const fail = (cause: Error) => untrainable(server, cause, otherwise);
  const alternativesAt = async (temperature: number) => {
    const fields = samplingFields({ maxTokens, temperature, seed: 1 }, noFields, server.url);
    const request = { model, prompt: [...prompt], ...fields, ...tokenFields, logprobs: 5 };
    const { body, refusal } = await server.ask('completions', request);
    if (refusal) throw fail(errorOf(refusal, server.url, false));
    try {
      readTokenReply(body, { prompt, maxTokens, vocabularySize }, server.url);
    } catch (error) {
      throw fail(error as Error);
    }
    return firstAlternatives(body);
  };
  const [flat, sharp] = [await alternativesAt(1), await alternativesAt(0.5)];
  const common = [...flat].filter(([token]) => sharp.has(token));
  if (common.length < 2) throw fail(new Error('It gives no alternatives of a token.'));
  const moved = Math.max(...common.map(([token, logprob]) => Math.abs(logprob - sharp.get(token)!)));
  return moved < 0.02 ? 'one' : 'sampling';
}

function untrainable({ url }: Server, cause: Error, otherwise: string): ToolEnvError {
  const remedy = `start vLLM or llama.cpp, or ${otherwise}`;
  const message = `${url} does not give the exact tokens of an action: ${remedy}. ${cause.message}`;
  return new ToolEnvError('usage.model_tokens', message, { cause });
}
