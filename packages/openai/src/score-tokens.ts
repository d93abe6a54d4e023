/** scoreTokens: the log-probabilities of given tokens. The server reads a row as a prompt, echoes it and generates nothing. */
import { type PolicySpec, ToolEnvError } from '@toolenv/core';
import type { Rows, TokenBatch, TokenRow } from '@toolenv/core/learner';
import type { Json } from './answer.ts';
import { tokenFields } from './probe-tokens.ts';
import { errorOf } from './refusal.ts';
import { samplingFields } from './sampling-fields.ts';
import type { Server } from './server.ts';

/**
 * One request for each row. vLLM and SGLang echo prompts with log-probabilities, which are of temperature 1.
 * @returns [B][T] in nats at mask = 1, else 0.
 * @throws ToolEnvError `usage.model_scores` for another temperature and for a server that echoes no log-probabilities,
 *   `context.overflow` for a row that the server has no room for, and as `Server.ask` does.
 */
export async function scoreTokens(
  { server, spec, model }: { server: Server; spec: PolicySpec; model: string },
  { rows, temperature = 1 }: TokenBatch,
  signal: AbortSignal | undefined,
): Promise<Rows> {
  if (temperature !== 1) {
    const message = `${spec.name} gives log-probabilities of a prompt at temperature 1, not at ${temperature}: sample at temperature 1, or take a checkpoint folder.`;
    throw new ToolEnvError('usage.model_scores', message);
  }
  const plain = { maxTokens: 0, temperature: 1, seed: 1 };
  return Promise.all(
    rows.map(async (row) => {
      const fields = { model, prompt: [...row.tokens], ...samplingFields(plain, new Set(), spec.name) };
      const { body, refusal } = await server.ask(
        'completions',
        { ...fields, ...tokenFields, echo: true },
        { signal },
      );
      if (refusal) throw errorOf(refusal, spec.name, false);
      return readScores(body, row, spec.name);
    }),
  );
}

/** @throws ToolEnvError `usage.model_scores` or `infrastructure.model_tokens`. */
function readScores(body: Json, { tokens, mask }: TokenRow, who: string): Float32Array {
  const choice = Object(Array.isArray(body.choices) ? body.choices[0] : undefined);
  const { token_logprobs: logprobs } = Object(choice.logprobs);
  const { prompt_tokens: read } = Object(body.usage);
  if (!Array.isArray(logprobs) || logprobs.length < tokens.length) {
    const message = `${who} echoes no log-probabilities of a prompt: start vLLM or SGLang, or take a checkpoint folder.`;
    throw new ToolEnvError('usage.model_scores', message);
  }
  const wrong = mistake(tokens, choice.prompt_token_ids, read);
  if (wrong) throw new ToolEnvError('infrastructure.model_tokens', `${who} ${wrong}.`);
  return Float32Array.from(mask, (bit, t) => {
    if (bit === 0) return 0;
    const logprob: unknown = logprobs[t];
    // Rounding may leave a probability a little above 1.
    if (typeof logprob === 'number' && Number.isFinite(logprob)) return Math.min(0, logprob);
    const message = `${who} gives the log-probability ${logprob} for token ${t} of a prompt.`;
    throw new ToolEnvError('infrastructure.model_tokens', message);
  });
}

/** What is wrong with the prompt that the server read. */
function mistake(tokens: Int32Array, echoed: unknown, read: unknown): string | undefined {
  if (typeof read === 'number' && read !== tokens.length)
    return `read a prompt of ${read} tokens, and ${tokens.length} were sent`;
  if (Array.isArray(echoed) && echoed.some((id, t) => id !== tokens[t]))
    return 'read other prompt tokens than were sent';
  return undefined;
}
