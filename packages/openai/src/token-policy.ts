/** tokenPolicy: sends prompts as token ids and keeps ids and log-probabilities as sampled. For training and evaluation. */
import { type Policy, type PolicySpec, type SamplingOptions, ToolEnvError } from '@toolenv/core';
import type { PolicyHandle } from '@toolenv/core/plugins';
import { type TokenChat, TokenTurns } from '@toolenv/core/remote';
import { type LogprobTemperature, tokenFields } from './probe-tokens.ts';
import { errorOf } from './refusal.ts';
import { samplingFields } from './sampling-fields.ts';
import type { Server } from './server.ts';
import { readTokenReply } from './token-reply.ts';
import { TokenScorer } from './token-scorer.ts';

export interface TokenPolicyParts {
  server: Server;
  spec: PolicySpec;
  model: string;
  chat: TokenChat;
  vocabularySize: number;
  logprobsAt: LogprobTemperature;
}

export function tokenPolicy(parts: TokenPolicyParts): Policy & Pick<PolicyHandle, 'score'> {
  const { server, spec, model, chat, vocabularySize } = parts;
  const turns = new TokenTurns(chat, spec.contextLength);
  const scorer = new TokenScorer({ server, spec, model, endTokens: chat.endTokens, vocabularySize });
  return {
    spec,
    ...(chat.vocabulary && { vocabulary: chat.vocabulary }),
    score: (batch, { signal } = {}) => scorer.score(batch, signal),
    act: (observation, options) =>
      turns.act(observation, options, async ({ prompt, maxTokens, spoken }) => {
        refuseUntrainable(options, parts);
        const usage = server.usage.part();
        const fields = {
          model,
          prompt: [...prompt],
          ...samplingFields({ ...options, maxTokens }, new Set(), spec.name),
          ...tokenFields,
          stop_token_ids: chat.endTokens,
        };
        const { body, refusal } = await server.ask('completions', fields, { signal: options.signal, usage });
        if (refusal) throw errorOf(refusal, spec.name, spoken);
        const sampled = readTokenReply(body, { prompt, maxTokens, vocabularySize }, spec.name);
        return { ...sampled, usage: usage.turn };
      }),
    endEpisode: (episodeId) => turns.endEpisode(episodeId),
  };
}

/** A log-probability at another temperature cannot be computed from that of one token. */
function refuseUntrainable(
  { temperature, topP = 1, topK, minP = 0 }: SamplingOptions,
  { logprobsAt, spec }: TokenPolicyParts,
): void {
  if (logprobsAt === 'one') {
    if (temperature === 0 || temperature === 1) return;
    const remedy = `sample at temperature 1, start vLLM with --logprobs-mode processed_logprobs, or leave --tokenizer out`;
    const message = `${spec.name} returns log-probabilities at temperature 1, not at ${temperature}: ${remedy}.`;
    throw new ToolEnvError('usage.model_tokens', message);
  }
  if (temperature !== 0 && topP === 1 && topK === undefined && minP === 0) return;
  const what = temperature === 0 ? 'at temperature 0' : 'with top-p, top-k or min-p';
  const remedy = 'start vLLM with --logprobs-mode raw_logprobs, or leave --tokenizer out';
  const message = `${spec.name} gives no log-probabilities of the whole vocabulary ${what}: ${remedy}.`;
  throw new ToolEnvError('usage.model_tokens', message);
}
