/** TinkerPolicy: sends prompts as token ids to a Tinker server, and keeps ids and log-probabilities as sampled. */
import {
  type Action,
  type EncodedRow,
  type Observation,
  type PlainText,
  type PolicySpec,
  type SamplingOptions,
  ToolEnvError,
} from '@toolenv/core';
import type { PolicyHandle, PolicyUsage } from '@toolenv/core/plugins';
import { Deadline, findTurnEnd, type TokenChat, type TokenTurn } from '@toolenv/core/tools';
import type { Connection } from './connection.ts';
import { decodeSamples, type SampledSequence } from './messages.ts';
import type { SharedModel } from './shared-model.ts';
import type { TinkerLearner } from './tinker-learner.ts';

export interface TinkerPolicyParts {
  spec: PolicySpec;
  connection: Connection;
  shared: SharedModel;
  learner: TinkerLearner;
  chat: TokenChat;
  /** Token ids are below it. */
  vocabularySize: number;
  encode: ((example: Observation | PlainText) => EncodedRow[]) | undefined;
  /** Ends the session. */
  leave(): void;
}

const seeds = 2 ** 31;

export class TinkerPolicy implements PolicyHandle {
  readonly spec: PolicySpec;
  readonly learner: TinkerLearner;
  readonly encode?: (example: Observation | PlainText) => EncodedRow[];
  readonly #parts: TinkerPolicyParts;
  readonly #turns: Map<string, TokenTurn> = new Map();
  /** Numbers the requests of sampling. */
  #sequence = 0;

  constructor(parts: TinkerPolicyParts) {
    this.spec = parts.spec;
    this.learner = parts.learner;
    this.#parts = parts;
    if (parts.encode) this.encode = parts.encode;
  }

  get usage(): PolicyUsage {
    return { ...this.#parts.connection.usage };
  }

  /** @throws ToolEnvError `context.overflow`, `usage.tinker_temperature`, `usage.tinker_sampling`, `infrastructure.tinker_*`. */
  async act(observation: Observation, options: SamplingOptions): Promise<Action> {
    const { chat } = this.#parts;
    const { episodeId, signal } = options;
    signal?.throwIfAborted();
    refuseUnknown(options);
    const last = episodeId === undefined ? undefined : this.#turns.get(episodeId);
    const prompt = (last && chat.continuation(last, observation)) ?? chat.prompt(observation);
    const room = this.spec.contextLength - prompt.length;
    if (room < 1) {
      const message = `The prompt has ${prompt.length} tokens and leaves no room in a context of ${this.spec.contextLength}: shorten the context.`;
      throw new ToolEnvError('context.overflow', message);
    }
    const maxTokens = Math.min(options.maxTokens, room);
    const waiting = new Deadline({ ...(signal && { parent: signal }), reason: () => undefined });
    // An action that waits for a step ends at once when it is aborted.
    const sampled = await waiting
      .waitFor(() => this.#sample(prompt, { ...options, maxTokens }))
      .finally(() => waiting.clear());
    const { length, stopped, written } = findTurnEnd(sampled.tokens, options.stop ?? [], chat);
    const action = sampled.tokens.slice(0, length);
    const { text, toolCalls } = chat.parse(written);
    if (episodeId !== undefined) this.#turns.set(episodeId, { observation, prompt, action, text });
    const isCut = !sampled.stopped && !stopped;
    const stopReason = isCut ? 'length' : toolCalls.length > 0 ? 'tool_call' : 'stop';
    const logprobs = sampled.logprobs.slice(0, length);
    return { text, toolCalls, stopReason, tokens: { prompt, action, logprobs } };
  }

  endEpisode(episodeId: string): void {
    this.#turns.delete(episodeId);
  }

  async close(): Promise<void> {
    await this.learner.close();
    this.#parts.leave();
  }

  async #sample(prompt: Int32Array, options: SamplingOptions): Promise<SampledSequence> {
    const { connection, shared, chat, vocabularySize } = this.#parts;
    const { maxTokens, temperature, topP = 1, topK = -1, seed, signal } = options;
    const { bytes } = await shared.sample((samplingSession) =>
      connection.result(
        'asample',
        {
          num_samples: 1,
          prompt: { chunks: [{ type: 'encoded_text', tokens: [...prompt] }] },
          sampling_params: {
            max_tokens: maxTokens,
            temperature,
            top_p: topP,
            top_k: topK,
            seed: ((seed % seeds) + seeds) % seeds,
            ...(chat.endTokens.length > 0 && { stop: chat.endTokens }),
          },
          sampling_session_id: samplingSession,
          seq_id: ++this.#sequence,
        },
        { signal },
      ),
    );
    const [sampled] = decodeSamples(bytes);
    const wrong = mistake(sampled, maxTokens, vocabularySize);
    if (wrong) throw new ToolEnvError('infrastructure.tinker_tokens', `${this.spec.name} ${wrong}.`);
    connection.usage.inputTokens += prompt.length;
    connection.usage.outputTokens += sampled!.tokens.length;
    return sampled!;
  }
}

function refuseUnknown({ temperature, minP = 0 }: SamplingOptions): void {
  if (temperature !== 0 && temperature !== 1) {
    const message = `A Tinker server gives log-probabilities of temperature 1, not of ${temperature}: set --temperature 1, or 0 for the likeliest tokens.`;
    throw new ToolEnvError('usage.tinker_temperature', message);
  }
  if (minP === 0) return;
  throw new ToolEnvError('usage.tinker_sampling', 'A Tinker server has no min-p: leave --min-p out.');
}

function mistake(sampled: SampledSequence | undefined, maxTokens: number, size: number): string | undefined {
  if (!sampled || sampled.tokens.length === 0) return 'gives no tokens';
  const { tokens, logprobs } = sampled;
  if (tokens.length > maxTokens) return `gives ${tokens.length} tokens, and ${maxTokens} were asked for`;
  const strange = tokens.find((id) => id < 0 || id >= size);
  if (strange !== undefined)
    return `gives the token ${strange}, and the tokenizer has ${size} tokens: name the tokenizer of this model`;
  if (logprobs.length !== tokens.length)
    return `gives ${logprobs.length} log-probabilities for ${tokens.length} tokens`;
  const infinite = logprobs.find((logprob) => !Number.isFinite(logprob));
  return infinite === undefined ? undefined : `gives the log-probability ${infinite}`;
}
