/** sampleTokens: samples a turn over `/completions`, from token ids to token ids. */
import { type SamplingOptions, ToolEnvError } from '@toolenv/core';
import type { SampledTokens, TokenRequest } from '@toolenv/core/remote';
import { samplingFields } from './capabilities.ts';
import { errorOf, type Json } from './refusal.ts';
import type { Server } from './server.ts';
import { type LogprobTemperature, readTokenReply, tokenFields } from './token-reply.ts';
import type { UsageCount } from './usage-count.ts';

/** A model on a server. */
export interface TokenModel {
  server: Server;
  model: string;
  vocabularySize: number;
  logprobsAt: LogprobTemperature;
  /** In errors. */
  who: string;
  /** What else a user may do where the server's log-probabilities do not fit, at the end of a sentence. */
  otherwise: string;
}

const noFields: ReadonlySet<string> = new Set();

/**
 * @param fields Further fields of the request.
 * @throws ToolEnvError `usage.model_tokens` for options with which a learner cannot compute the server's log-probabilities, and what
 *   `samplingFields`, `Server.ask` and `readTokenReply` throw.
 */
export async function sampleTokens(
  from: TokenModel,
  { prompt, maxTokens, spoken }: TokenRequest,
  options: SamplingOptions,
  fields: Json,
  usage?: UsageCount,
): Promise<SampledTokens> {
  const { server, model, vocabularySize, who } = from;
  refuseUntrainable(options, from);
  const request = {
    model,
    prompt: [...prompt],
    ...samplingFields({ ...options, maxTokens }, noFields, who),
    ...tokenFields,
    ...fields,
  };
  const { signal } = options;
  const { body, refusal } = await server.ask('completions', request, { signal, ...(usage && { usage }) });
  if (refusal) throw errorOf(refusal, who, spoken);
  return readTokenReply(body, { prompt, maxTokens, vocabularySize }, who);
}

/** A log-probability at another temperature cannot be computed from that of one token. */
function refuseUntrainable(
  { temperature, topP = 1, topK, minP = 0 }: SamplingOptions,
  { logprobsAt, who, otherwise }: TokenModel,
): void {
  if (logprobsAt === 'one') {
    if (temperature === 0 || temperature === 1) return;
    const remedy = `sample at temperature 1, start vLLM with --logprobs-mode processed_logprobs, or ${otherwise}`;
    const message = `${who} returns log-probabilities at temperature 1, not at ${temperature}: ${remedy}.`;
    throw new ToolEnvError('usage.model_tokens', message);
  }
  if (temperature !== 0 && topP === 1 && topK === undefined && minP === 0) return;
  const what = temperature === 0 ? 'at temperature 0' : 'with top-p, top-k or min-p';
  const remedy = `start vLLM with --logprobs-mode raw_logprobs, or ${otherwise}`;
  const message = `${who} gives no log-probabilities of the whole vocabulary ${what}: ${remedy}.`;
  throw new ToolEnvError('usage.model_tokens', message);
}
