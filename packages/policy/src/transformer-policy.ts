/** The Policy of a transformer: renders the chat template, samples tokens and parses tool calls. */
import {
  type Action,
  type Observation,
  type Policy,
  type PolicySpec,
  type SamplingOptions,
  ToolEnvError,
} from '@toolenv/core';
import { Chat, type Turn } from './chat/chat.ts';
import { beforeStop, completesStop } from './chat/stop-text.ts';
import { type Checkpoint, readCheckpoint } from './checkpoint/checkpoint.ts';
import { type LearnerOptions, TransformerLearner } from './learner/transformer-learner.ts';
import { createModel, type Model, placeModel } from './model/model.ts';
import type { Device } from './runtime/device.ts';
import { onnxRuntime } from './runtime/onnx/onnx-runtime.ts';
import type { Precision, Runtime } from './runtime/runtime.ts';
import { Sampler, type SamplerOptions } from './sampler/sampler.ts';

export class TransformerPolicy implements Policy {
  readonly spec: PolicySpec;
  readonly #chat: Chat;
  readonly #sampler: Sampler;
  readonly #turns: Map<string, Turn> = new Map();

  constructor(spec: PolicySpec, chat: Chat, sampler: Sampler) {
    this.spec = spec;
    this.#chat = chat;
    this.#sampler = sampler;
  }

  async act(observation: Observation, options: SamplingOptions): Promise<Action> {
    const { episodeId } = options;
    const last = episodeId === undefined ? undefined : this.#turns.get(episodeId);
    const prompt = (last && this.#chat.continuation(last, observation)) ?? this.#chat.prompt(observation);
    const room = this.spec.contextLength - prompt.length;
    if (room < 1) {
      const message = `The prompt has ${prompt.length} tokens and leaves no room in a context of ${this.spec.contextLength}: shorten the context.`;
      throw new ToolEnvError('context.overflow', message);
    }
    const stop = (options.stop ?? []).filter((text) => text !== '');
    const decode = (tokens: Int32Array) => this.#chat.decode(tokens);
    const { temperature, topP, topK, minP, seed } = options;
    const { tokens, logprobs, stopped } = await this.#sampler.sample({
      prompt,
      maxTokens: Math.min(options.maxTokens, room),
      temperature,
      topP,
      topK,
      minP,
      seed,
      stopTokens: this.#chat.endTokens,
      ...(stop.length > 0 && { stopsAt: (sampled) => completesStop(sampled, stop, decode) }),
      ...(episodeId !== undefined && { conversation: episodeId }),
      batchDelay: options.batchDelay,
      ...(options.signal && { signal: options.signal }),
    });
    const { text, toolCalls } = this.#chat.parse(beforeStop(this.#chat.written(tokens), stop));
    if (episodeId !== undefined) this.#turns.set(episodeId, { observation, prompt, action: tokens, text });
    const stopReason = stopped ? (toolCalls.length > 0 ? 'tool_call' : 'stop') : 'length';
    return { text, toolCalls, stopReason, tokens: { prompt, action: tokens, logprobs } };
  }

  endEpisode(episodeId: string): void {
    this.#turns.delete(episodeId);
    this.#sampler.forget(episodeId);
  }

  async close(): Promise<void> {
    await this.#sampler.close();
  }
}

export interface PolicyOptions {
  /** Default: ONNX Runtime on `device` in `precision`. */
  runtime?: Runtime;
  /** Default `cpu`. */
  device?: Device;
  /** The precision of ONNX Runtime's matrix products. Default `float32`. */
  precision?: Precision;
  sampler?: SamplerOptions;
  learner?: LearnerOptions;
}

/** A policy and the learner that trains it. They share one set of weights. */
export interface LoadedPolicy {
  policy: TransformerPolicy;
  learner: TransformerLearner;
  chat: Chat;
  model: Model;
}

/**
 * Opens a Hugging Face checkpoint folder.
 * @throws ToolEnvError `usage.checkpoint_*`, `usage.device` or `usage.lora`.
 */
export async function loadPolicy(folder: string, options: PolicyOptions = {}): Promise<LoadedPolicy> {
  return createPolicy(await readCheckpoint(folder), options);
}

/** Opens a checkpoint in memory, as {@link loadPolicy} does a folder. */
export async function createPolicy(
  checkpoint: Checkpoint,
  options: PolicyOptions = {},
): Promise<LoadedPolicy> {
  const { runtime = onnxRuntime({ device: options.device, precision: options.precision }) } = options;
  const chat = new Chat(checkpoint);
  const model = createModel(checkpoint.config, checkpoint.weights);
  await placeModel(runtime, model);
  const spec = { name: checkpoint.folder, contextLength: checkpoint.config.max_position_embeddings };
  const policy = new TransformerPolicy(spec, chat, new Sampler(runtime, model, options.sampler));
  return {
    policy,
    learner: new TransformerLearner(runtime, model, checkpoint, options.learner),
    chat,
    model,
  };
}
