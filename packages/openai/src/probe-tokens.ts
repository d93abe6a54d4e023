/** probeTokens: whether a server's tokens can be trained on, and at which temperature it takes log-probabilities. */
import { ToolEnvError } from '@toolenv/core';
import type { Json } from './answer.ts';
import { errorOf } from './refusal.ts';
import { samplingFields } from './sampling-fields.ts';
import type { Server } from './server.ts';
import { firstAlternatives, readTokenReply, type TokenRequest } from './token-reply.ts';

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
 * @throws ToolEnvError `usage.model_tokens` if ids or log-probabilities are missing or do not agree with the counts.
 */
export async function probeTokens(
  server: Server,
  model: string,
  { prompt, vocabularySize }: Pick<TokenRequest, 'prompt' | 'vocabularySize'>,
): Promise<LogprobTemperature> {
  const maxTokens = 2;
  const alternativesAt = async (temperature: number) => {
    const fields = samplingFields({ maxTokens, temperature, seed: 1 }, noFields, server.url);
    const request = { model, prompt: [...prompt], ...fields, ...tokenFields, logprobs: 5 };
    const { body, refusal } = await server.ask('completions', request);
    if (refusal) throw untrainable(server, errorOf(refusal, server.url, false));
    try {
      readTokenReply(body, { prompt, maxTokens, vocabularySize }, server.url);
    } catch (error) {
      throw untrainable(server, error as Error);
    }
    return firstAlternatives(body);
  };
  const [flat, sharp] = [await alternativesAt(1), await alternativesAt(0.5)];
  const common = [...flat].filter(([token]) => sharp.has(token));
  if (common.length < 2) throw untrainable(server, new Error('It gives no alternatives of a token.'));
  const moved = Math.max(...common.map(([token, logprob]) => Math.abs(logprob - sharp.get(token)!)));
  return moved < 0.02 ? 'one' : 'sampling';
}

function untrainable({ url }: Server, cause: Error): ToolEnvError {
  const remedy = 'start vLLM or llama.cpp, or leave --tokenizer out, which only training needs.';
  const message = `${url} does not give the exact tokens of an action: ${remedy} ${cause.message}`;
  return new ToolEnvError('usage.model_tokens', message, { cause });
}
