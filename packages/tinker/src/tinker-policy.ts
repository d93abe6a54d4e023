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
import {
  type SampledTokens,
  type TokenChat,
  type TokenRequest,
  TokenTurns,
  tokensMistake,
} from '@toolenv/core/remote';
import { untilAborted } from '@toolenv/core/tools';
import type { Connection } from './connection.ts';
import { decodeSamples } from './messages.ts';
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
  readonly #turns: TokenTurns;
  /** Numbers the requests of sampling. */
  #sequence = 0;

  constructor(parts: TinkerPolicyParts) {
    this.spec = parts.spec;
    this.learner = parts.learner;
    this.#parts = parts;
    this.#turns = new TokenTurns(parts.chat, parts.spec.contextLength);
    if (parts.encode) this.encode = parts.encode;
  }

  get vocabulary(): PolicyHandle['vocabulary'] {
    return this.#parts.chat.vocabulary;
  }

  get usage(): PolicyUsage {
    return { ...this.#parts.connection.usage };
  }

  /** @throws ToolEnvError `context.overflow`, `usage.tinker_temperature`, `usage.tinker_sampling`, `infrastructure.tinker_*`. */
  async act(observation: Observation, options: SamplingOptions): Promise<Action> {
    const { signal } = options;
    signal?.throwIfAborted();
    refuseUnknown(options);
    return this.#turns.act(observation, options, (request) =>
      // An action that waits for a step ends at once when it is aborted.
      untilAborted(signal, () => this.#sample(request, options)),
    );
  }

  endEpisode(episodeId: string): void {
    this.#turns.endEpisode(episodeId);
  }

  async close(): Promise<void> {
    await this.learner.close();
    this.#parts.leave();
  }

  async #sample(
    { prompt, maxTokens }: TokenRequest,
    { temperature, topP = 1, topK = -1, seed, signal }: SamplingOptions,
  ): Promise<SampledTokens> {
    const { connection, shared, chat, vocabularySize } = this.#parts;
    const begun = performance.now();
    const count = { requests: 0 };
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
        { signal, count },
      ),
    );
    const [sampled] = decodeSamples(bytes);
    if (!sampled || sampled.tokens.length === 0) throw wrongTokens(this.spec, 'gives no tokens');
    const { tokens, logprobs, stopped } = sampled;
    const wrong = tokensMistake(tokens, logprobs, { maxTokens, vocabularySize });
    if (wrong) throw wrongTokens(this.spec, wrong);
    const spent = { inputTokens: prompt.length, outputTokens: tokens.length };
    connection.usage.inputTokens += spent.inputTokens;
    connection.usage.outputTokens += spent.outputTokens;
    // The server does not say what it had in its cache.
    const usage = { ...count, ...spent, cachedTokens: 0, milliseconds: performance.now() - begun };
    return { tokens, logprobs, isCut: !stopped, usage };
  }
}

function refuseUnknown({ temperature, minP = 0, constrainCalls }: SamplingOptions): void {
  if (temperature !== 0 && temperature !== 1) {
    const message = `A Tinker server returns log-probabilities at temperature 1, not at ${temperature}: set --temperature 1, or 0 for the likeliest tokens.`;
    throw new ToolEnvError('usage.tinker_temperature', message);
  }
  if (constrainCalls) {
    const message = 'A Tinker server cannot constrain calls: leave constrainCalls out.';
    throw new ToolEnvError('usage.constrain_calls', message);
  }
  if (minP === 0) return;
  throw new ToolEnvError('usage.tinker_sampling', 'A Tinker server has no min-p: leave --min-p out.');
}

function wrongTokens({ name }: PolicySpec, what: string): ToolEnvError {
  return new ToolEnvError('infrastructure.tinker_tokens', `${name} ${what}.`);
}
