/** The Policy of a transformer: renders the chat template, samples tokens and parses tool calls. */
import {
  type Action,
  type EncodedRow,
  type Observation,
  type PlainText,
  type PolicySpec,
  type SamplingOptions,
  ToolEnvError,
} from '@toolenv/core';
import type { TrainablePolicy } from '@toolenv/core/learner';
import type { Ability, MemoryEstimate, PolicyHandle } from '@toolenv/core/plugins';
import { TokenTurns } from '@toolenv/core/remote';
import { Chat, type ChatOptions } from './chat/chat.ts';
import { chatAbilities, tokenizerAbilities } from './chat/chat-abilities.ts';
import { encodeExample } from './chat/encode-example.ts';
import { type NamedCheckpoint, openCheckpoint } from './checkpoint/open-checkpoint.ts';
import { writeFolder } from './checkpoint/write-folder.ts';
import { mergeAdapters } from './learner/adapter-merge.ts';
import { type LearnerOptions, memoryBefore } from './learner/learner-options.ts';
import { TransformerLearner } from './learner/transformer-learner.ts';
import { mirrorModel } from './model/mirrored-model.ts';
import { createModel, type Model, parameterCount, placeModel } from './model/model.ts';
import type { ModelConfig } from './model/model-config.ts';
import type { Device } from './runtime/device.ts';
import { onnxRuntime } from './runtime/onnx/onnx-runtime.ts';
import type { Precision, Runtime } from './runtime/runtime.ts';
import type { LearnedModel, OpenedSampler, TokenSampler } from './sampler/sample-request.ts';
import { Sampler, type SamplerOptions } from './sampler/sampler.ts';

/** The parts of a policy. A sampler of this process and the learner share the model's weights. */
export interface TransformerParts {
  spec: PolicySpec;
  chat: Chat;
  model: Model;
  sampler: TokenSampler;
  learner: TransformerLearner;
  revision?: string | undefined;
  /** Tokens after which a turn ends that is still inside its thought. Default: no limit. */
  maxThoughtTokens?: number | undefined;
  /** Called once the policy is closed. */
  afterClose?: (() => Promise<void>) | undefined;
}

export class TransformerPolicy implements TrainablePolicy, PolicyHandle {
  readonly spec: PolicySpec;
  /** Renders prompts and parses what the model writes. */
  readonly chat: Chat;
  readonly model: Model;
  readonly learner: TransformerLearner;
  /** Commit of the model on the Hugging Face Hub; absent for a local folder. */
  readonly revision?: string;
  readonly #sampler: TokenSampler;
  readonly #turns: TokenTurns;
  readonly #maxThoughtTokens: number | undefined;
  readonly #afterClose: TransformerParts['afterClose'];

  constructor(parts: TransformerParts) {
    const { spec, chat, model, sampler, learner, revision, maxThoughtTokens, afterClose } = parts;
    this.spec = spec;
    this.chat = chat;
    this.model = model;
    this.learner = learner;
    if (revision !== undefined) this.revision = revision;
    this.#sampler = sampler;
    this.#turns = new TokenTurns(chat, spec.contextLength);
    this.#maxThoughtTokens = maxThoughtTokens;
    this.#afterClose = afterClose;
  }

  get vocabulary(): ReadonlyMap<number, string> {
    return this.chat.vocabulary;
  }

  /** What the model can do here, by its chat template and tokenizer. */
  get abilities(): Ability[] {
    return [...chatAbilities(this.chat), ...tokenizerAbilities(this.chat)];
  }

  /** An estimate of the memory for training, without a critic. */
  get memory(): MemoryEstimate {
    return this.learner.memory;
  }

  act(observation: Observation, options: SamplingOptions): Promise<Action> {
    const stop = (options.stop ?? []).filter((text) => text !== '');
    const decode = (tokens: Int32Array) => this.chat.decode(tokens);
    const { vocab_size: vocabulary } = this.model.config;
    const mayStop = stop.length > 0 || this.#maxThoughtTokens !== undefined;
    return this.#turns.act(observation, options, async ({ prompt, maxTokens }) => {
      let isLost = false;
      const stopsAt = (sampled: readonly number[]) => {
        isLost =
          sampled.length === this.#maxThoughtTokens &&
          this.chat.isThinking(Int32Array.from(sampled), observation.tools);
        return isLost || (stop.length > 0 && completesStop(sampled, stop, decode));
      };
      const { tokens, logprobs, stopped } = await this.#sampler.sample({
        ...options,
        stop,
        prompt,
        maxTokens,
        stopTokens: this.chat.endTokens,
        ...(options.constrainCalls && { limit: this.chat.constrainCalls(observation.tools, vocabulary) }),
        ...(mayStop && { stopsAt }),
      });
      return { tokens, logprobs, isCut: !stopped || isLost };
    });
  }

  encode(example: Observation | PlainText): EncodedRow[] {
    return encodeExample(this.chat, example);
  }

  endEpisode(episodeId: string): void {
    this.#turns.endEpisode(episodeId);
    this.#sampler.forget(episodeId);
  }

  /**
   * Writes a Hugging Face folder for `transformers`, in the precision that was read and without optimizer state. A new folder is written atomically. In an
   * existing folder, each file is replaced atomically, and other files stay.
   */
  async save(folder: string): Promise<void> {
    await writeFolder(folder, (partial) => this.learner.saveModel(partial));
  }

  /** Closes the learner too. */
  async close(): Promise<void> {
    await this.learner
      .close()
      .finally(() => this.#sampler.close())
      .finally(() => this.#afterClose?.());
  }

  /** Closes the policy at the end of a scope: `await using policy = await loadPolicy(…)`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

export interface PolicyOptions extends ChatOptions {
  /** Default: ONNX Runtime on `device` in `precision` with `threads`. */
  runtime?: Runtime;
  /** Whether closing the policy closes the runtime. Default false. */
  closesRuntime?: boolean;
  /** Default `cpu`. */
  device?: Device;
  /** The precision of ONNX Runtime's matrix products. Default `float32`. */
  precision?: Precision;
  /** CPU threads per operation. Default: one per physical core. */
  threads?: number;
  /** Tokens after which a turn ends that is still inside its thought, as if it had ended at `maxTokens`. Default: no limit. */
  maxThoughtTokens?: number | undefined;
  sampler?: SamplerOptions;
  /** Opens a sampler in another program, such as vLLM, in place of the one of this process. */
  openSampler?: ((model: LearnedModel) => Promise<OpenedSampler>) | undefined;
  learner?: LearnerOptions;
}

/** What {@link loadPolicy} takes besides. */
export interface LoadOptions extends PolicyOptions {
  /** The revision of a name of the Hugging Face Hub without one: a branch, a tag or a commit. Default `main`. */
  revision?: string | undefined;
  /** Ends a download. */
  signal?: AbortSignal | undefined;
}

/**
 * Opens a Hugging Face checkpoint folder, or a model of the Hugging Face Hub, to sample and to train. A model is named `owner/name` or
 * `owner/name@revision`. It is fetched once, into the cache that Python shares; a path that exists counts first. Close the policy when
 * it is no longer needed, or declare it with `await using`.
 * @throws ToolEnvError `usage.checkpoint_*`, `usage.device` or `usage.lora`; what `fetchModel` of @toolenv/hub throws.
 */
export async function loadPolicy(
  name: string,
  { revision: asked, signal, ...options }: LoadOptions = {},
): Promise<TransformerPolicy> {
  const memory = (config: ModelConfig) => memoryBefore(config, options.learner);
  return createPolicy(await openCheckpoint(name, { revision: asked, memory, signal }), options);
}

/** Opens a checkpoint that is already in memory. Otherwise like {@link loadPolicy}. */
export async function createPolicy(
  checkpoint: NamedCheckpoint,
  options: PolicyOptions = {},
): Promise<TransformerPolicy> {
  if (options.openSampler && checkpoint.adapters?.length) throw adapterAlone(checkpoint.folder);
  const { device, precision, threads, runtime = onnxRuntime({ device, precision, threads }) } = options;
  const chat = new Chat(checkpoint, options);
  const model = createModel(checkpoint.config, checkpoint.weights);
  await placeModel(runtime, model);
  await mergeAdapters(runtime, model, checkpoint.adapters);
  // The adapter that is saved names its base, which others find by its name.
  const name = checkpoint.name ?? checkpoint.folder;
  const learner = new TransformerLearner(runtime, model, { ...checkpoint, folder: name }, options.learner);
  const { maxThoughtTokens } = options;
  const afterClose = options.closesRuntime ? async () => runtime.close?.() : undefined;
  const { folder } = checkpoint;
  const adapterRank = options.learner?.lora?.rank;
  const remote = await options
    .openSampler?.(learnedModel({ folder, adapterRank }, model, learner))
    .catch(async (error: unknown) => {
      await learner.close().finally(() => afterClose?.());
      throw error;
    });
  const isInt8 = options.sampler?.precision === 'int8';
  const { minSampled = 0 } = runtime;
  const mirrors = parameterCount(model.config) < minSampled || (minSampled > 0 && isInt8);
  const { max_position_embeddings: contextLength } = checkpoint.config;
  const spec = {
    name,
    contextLength: Math.min(contextLength, remote?.contextLength ?? contextLength),
    ...(chat.toldTools === false && { capabilities: { knownTools: true } }),
    // Other weights or products sample than those that learn.
    ...((remote || isInt8 || runtime.precision === 'bfloat16') && {
      usesSeparateSampler: true,
    }),
  };
  const own = () =>
    mirrors
      ? new Sampler(onnxRuntime({ threads }), mirrorModel(model, runtime), options.sampler)
      : new Sampler(runtime, model, options.sampler);
  const sampler = remote?.sampler ?? own();
  const parts = { spec, chat, model, sampler, learner, maxThoughtTokens, afterClose };
  return new TransformerPolicy({ ...parts, revision: checkpoint.revision });
}

/** Another program opens the folder of the start, and would miss the adapter. */
function adapterAlone(folder: string): ToolEnvError {
  const message = `${folder} is an adapter without its base model, and vLLM needs a whole model: open it with loadPolicy, save() it, and name that folder.`;
  return new ToolEnvError('usage.checkpoint_unsupported', message);
}

function learnedModel(
  begun: Pick<LearnedModel, 'folder' | 'adapterRank'>,
  model: Model,
  learner: TransformerLearner,
): LearnedModel {
  return {
    ...begun,
    vocabularySize: model.config.vocab_size,
    get version() {
      return model.weights;
    },
    // No optimizer step changes the weights while they are written.
    write: (into) =>
      model.exclusively(async () => ({
        version: model.weights,
        folder: await learner.exportForServer(into),
      })),
  };
}

/** Whether the last token completes a stop text. */
function completesStop(
  sampled: readonly number[],
  stop: readonly string[],
  decode: (tokens: Int32Array) => string,
): boolean {
  // A token is at least one byte. Decode one token more, because the first token of a text may lose its leading space.
  const longest = 1 + Math.max(...stop.map((text) => Buffer.byteLength(text)));
  const tail = decode(Int32Array.from(sampled.slice(-longest)));
  return stop.some((text) => tail.includes(text));
}
