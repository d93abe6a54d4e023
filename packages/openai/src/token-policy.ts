/** tokenPolicy: sends prompts as token ids and keeps ids and log-probabilities as sampled. For training and evaluation. */
import { type Policy, type PolicySpec, ToolEnvError } from '@toolenv/core';
import type { Rows, TokenBatch, TokenRow } from '@toolenv/core/learner';
import type { PolicyHandle } from '@toolenv/core/plugins';
import { type TokenChat, TokenTurns } from '@toolenv/core/remote';
import { samplingFields } from './capabilities.ts';
import { errorOf, type Json } from './refusal.ts';
import { sampleTokens } from './sample-tokens.ts';
import type { Server } from './server.ts';
import { type LogprobTemperature, readTokenReply, tokenFields } from './token-reply.ts';

export interface TokenPolicyParts {
  server: Server;
  spec: PolicySpec;
  model: string;
  chat: TokenChat;
  vocabularySize: number;
  logprobsAt: LogprobTemperature;
}

export function tokenPolicy(parts: TokenPolicyParts): Policy & Pick<PolicyHandle, 'score'> {
  const { server, spec, model, chat, vocabularySize, logprobsAt } = parts;
  const otherwise = 'leave --tokenizer out';
  const from = { server, model, vocabularySize, logprobsAt, who: spec.name, otherwise };
  const turns = new TokenTurns(chat, spec.contextLength);
  const scorer = new TokenScorer({ server, spec, model, endTokens: chat.endTokens, vocabularySize });
  return {
    spec,
    ...(chat.vocabulary && { vocabulary: chat.vocabulary }),
    score: (batch, { signal } = {}) => scorer.score(batch, signal),
    act: (observation, options) =>
      turns.act(observation, options, async ({ prompt, maxTokens, spoken }) => {
        const usage = server.usage.part();
        const fields = { stop_token_ids: chat.endTokens };
        const sampled = await sampleTokens(from, { prompt, maxTokens, spoken }, options, fields, usage);
        return { ...sampled, usage: usage.turn };
      }),
    endEpisode: (episodeId) => turns.endEpisode(episodeId),
  };
}

interface TokenScorerParts {
  server: Server;
  spec: PolicySpec;
  model: string;
  /** The tokens that end a turn. */
  endTokens: readonly number[];
  vocabularySize: number;
}

interface Request {
  prompt: readonly number[];
  maxTokens: number;
  /** Fields of one way to score. */
  fields: Json;
}

/**
 * The log-probabilities of given tokens. vLLM and SGLang read a row as a prompt and echo it. llama.cpp echoes nothing: a
 * grammar forces it to write the tokens, and their log-probabilities are those before the grammar.
 */
class TokenScorer {
  readonly #parts: TokenScorerParts;
  /** Whether the server echoes a prompt with its log-probabilities. */
  #echoes: Promise<boolean> | undefined;

  constructor(parts: TokenScorerParts) {
    this.#parts = parts;
  }

  /**
   * @returns [B][T] in nats at mask = 1, else 0.
   * @throws ToolEnvError `usage.model_scores` for another temperature and for a server that can score in no way, `context.overflow` for
   *   a row that the server has no room for, `infrastructure.model_tokens`, and as `Server.ask` does.
   */
  async score({ rows, temperature = 1 }: TokenBatch, signal: AbortSignal | undefined): Promise<Rows> {
    if (temperature !== 1) {
      const message = `${this.#parts.spec.name} scores tokens at temperature 1, not at ${temperature}: sample at temperature 1, or take a checkpoint folder.`;
      throw new ToolEnvError('usage.model_scores', message);
    }
    const [first] = rows;
    if (!first) return [];
    this.#echoes ??= this.#echo(first, signal).then(({ logprobs }) => Array.isArray(logprobs));
    const echoes = await this.#echoes.catch((error: unknown) => {
      this.#echoes = undefined;
      throw error;
    });
    return Promise.all(rows.map((row) => (echoes ? this.#echoed(row, signal) : this.#forced(row, signal))));
  }

  async #echoed(row: TokenRow, signal: AbortSignal | undefined): Promise<Float32Array> {
    const { name } = this.#parts.spec;
    const { logprobs, prompt, read } = await this.#echo(row, signal);
    const wrong = echoMistake(row.tokens, logprobs, prompt, read);
    if (wrong) throw new ToolEnvError('infrastructure.model_tokens', `${name} ${wrong}.`);
    return Float32Array.from(row.mask, (bit, t) => {
      if (bit === 0) return 0;
      const logprob: unknown = (logprobs as unknown[])[t];
      // Rounding may leave a probability a little above 1.
      if (typeof logprob === 'number' && Number.isFinite(logprob)) return Math.min(0, logprob);
      const message = `${name} gives the log-probability ${logprob} for token ${t} of a prompt.`;
      throw new ToolEnvError('infrastructure.model_tokens', message);
    });
  }

  async #echo({ tokens }: TokenRow, signal: AbortSignal | undefined) {
    const body = await this.#ask({ prompt: [...tokens], maxTokens: 0, fields: { echo: true } }, { signal });
    const choice = Object(Array.isArray(body.choices) ? body.choices[0] : undefined);
    const { token_logprobs: logprobs } = Object(choice.logprobs) as { token_logprobs: unknown };
    const { prompt_tokens: read } = Object(body.usage) as { prompt_tokens: unknown };
    return { logprobs, prompt: choice.prompt_token_ids as unknown, read };
  }

  async #forced({ tokens, mask }: TokenRow, signal: AbortSignal | undefined): Promise<Float32Array> {
    const scores = new Float32Array(tokens.length);
    const actions = actionsOf(mask).map(async ([start, end]) => {
      scores.set(await this.#action(tokens.subarray(0, start), tokens.subarray(start, end), signal), start);
    });
    await Promise.all(actions);
    return scores;
  }

  /** One request; one for each token if a grammar cannot demand them, as it cannot demand control tokens. */
  async #action(
    prompt: Int32Array,
    action: Int32Array,
    signal: AbortSignal | undefined,
  ): Promise<ArrayLike<number>> {
    try {
      const fields = forcingFields(action, this.#parts.endTokens);
      return await this.#force([...prompt], action, fields, { signal, retries: 0 });
    } catch {
      signal?.throwIfAborted();
    }
    const scores = new Float32Array(action.length);
    for (const [i, token] of action.entries()) {
      const past = [...prompt, ...action.subarray(0, i)];
      scores.set(await this.#force(past, Int32Array.of(token), biasTo(token), { signal }), i);
    }
    return scores;
  }

  /** The log-probabilities of tokens that the server writes because the fields force it. */
  async #force(
    prompt: number[],
    wanted: Int32Array,
    fields: Json,
    options: { signal: AbortSignal | undefined; retries?: number },
  ): Promise<Float32Array> {
    const { spec, vocabularySize } = this.#parts;
    const maxTokens = wanted.length;
    const body = await this.#ask({ prompt, maxTokens, fields }, options);
    const asked = { prompt: Int32Array.from(prompt), maxTokens, vocabularySize };
    const { tokens, logprobs } = readTokenReply(body, asked, spec.name);
    if (tokens.length === wanted.length && tokens.every((id, i) => id === wanted[i])) return logprobs;
    const message = `${spec.name} neither echoes a prompt with its log-probabilities nor writes the tokens that a request demands: start vLLM, SGLang or a new llama.cpp, or take a checkpoint folder.`;
    throw new ToolEnvError('usage.model_scores', message);
  }

  async #ask(
    { prompt, maxTokens, fields }: Request,
    options: { signal: AbortSignal | undefined; retries?: number },
  ): Promise<Json> {
    const { server, spec, model } = this.#parts;
    const plain = samplingFields({ maxTokens, temperature: 1, seed: 1 }, new Set(), spec.name);
    const request = { model, prompt, ...plain, ...tokenFields, ...fields };
    const { body, refusal } = await server.ask('completions', request, options);
    if (refusal) throw errorOf(refusal, spec.name, false);
    return body;
  }
}

/** The places of each run of tokens with mask 1. */
function actionsOf(mask: Uint8Array): [start: number, end: number][] {
  const actions: [number, number][] = [];
  for (let t = 0; t < mask.length; t++) {
    if (mask[t] === 0) continue;
    const last = actions.at(-1);
    if (last?.[1] === t) last[1] = t + 1;
    else actions.push([t, t + 1]);
  }
  return actions;
}

/** llama.cpp's grammar of token ids. It has no token that ends a turn: after the grammar, only such tokens are left, and the bias chooses. */
function forcingFields(wanted: Int32Array, endTokens: readonly number[]): Json {
  const last = wanted.at(-1)!;
  const written = endTokens.includes(last) ? wanted.subarray(0, -1) : wanted;
  if (written.length === 0) return biasTo(last);
  const grammar = `root ::= ${Array.from(written, (id) => `<[${id}]>`).join(' ')}`;
  return written.length < wanted.length ? { grammar, ...biasTo(last) } : { grammar };
}

function biasTo(token: number): Json {
  return { logit_bias: [[token, 1e4]] };
}

/** What is wrong with an echo. */
function echoMistake(
  tokens: Int32Array,
  logprobs: unknown,
  prompt: unknown,
  read: unknown,
): string | undefined {
  if (typeof read === 'number' && read !== tokens.length)
    return `read a prompt of ${read} tokens, and ${tokens.length} were sent`;
  if (Array.isArray(prompt) && prompt.some((id, t) => id !== tokens[t]))
    return 'read other prompt tokens than were sent';
  const count = Array.isArray(logprobs) ? logprobs.length : 0;
  return count < tokens.length
    ? `gives ${count} log-probabilities for a prompt of ${tokens.length} tokens`
    : undefined;
}
