/** The Learner of a transformer: compiled programs for forward, backward and the optimizer, over shared weights. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type AdamW,
  type CriticOptions,
  type Learner,
  type Rows,
  type TokenBatch,
  type TokenGradients,
  type TokenOutputs,
  ToolEnvError,
} from '@toolenv/core';
import type { Checkpoint } from './checkpoint.ts';
import { readWeights, writeCheckpoint } from './checkpoint.ts';
import { type Critic, createCritic, readCritic, valueHead, writeCritic } from './critic.ts';
import { decoder, type LowRank, logits, parameterShapes, selfAttention } from './decoder.ts';
import { LoraAdapter, type LoraOptions } from './lora.ts';
import type { Model } from './model.ts';
import type { ModelConfig } from './model-config.ts';
import type { Ops } from './ops.ts';
import { gatherSlots, type PaddedBatch, padRows, scatterSlots } from './padded-batch.ts';
import { ParameterGroup } from './parameter-group.ts';
import { type Executable, type Runtime, type Tensors, tensor } from './runtime.ts';
import { readTensors, writeSafetensors } from './safetensors.ts';
import { defaultTokenBudget, type TrainingMemory, trainingMemory } from './training-memory.ts';

const optimizerFile = 'optimizer.safetensors';

export interface LearnerOptions {
  /** Padded tokens computed at a time; a longer row goes alone. Default: as many as 1 GiB of activations allows, at most 4096. */
  tokenBudget?: number;
  /** Train an adapter and leave the model's own weights as they are. Default: all weights are trained. */
  lora?: LoraOptions;
}

export class TransformerLearner implements Learner {
  readonly #runtime: Runtime;
  readonly #model: Model;
  readonly #checkpoint: Checkpoint;
  readonly #tokenBudget: number;
  readonly #programs: Map<string, Promise<Executable>> = new Map();
  readonly #group: ParameterGroup;
  readonly #lora: LoraAdapter | undefined;
  #critic: Critic | undefined;

  constructor(
    runtime: Runtime,
    model: Model,
    checkpoint: Checkpoint,
    { tokenBudget = defaultTokenBudget(model.config), lora }: LearnerOptions = {},
  ) {
    this.#runtime = runtime;
    this.#model = model;
    this.#checkpoint = checkpoint;
    this.#tokenBudget = tokenBudget;
    this.#lora = lora && new LoraAdapter(runtime, model.config, model.weights, lora);
    this.#group = new ParameterGroup(runtime, this.#lora?.shapes ?? parameterShapes(model.config));
  }

  /** An estimate, without the critic that a trainer may add. */
  get memory(): TrainingMemory {
    return trainingMemory(this.#model.config, this.#tokenBudget, this.#group.shapes);
  }

  async addCritic({ critic }: CriticOptions): Promise<void> {
    await this.#critic?.group.close();
    this.#critic = createCritic(critic, this.#runtime, this.#model);
  }

  async forward(batch: TokenBatch): Promise<TokenOutputs> {
    const critic = this.#critic;
    const outputs = await this.#forward(
      batch,
      this.#model.weights,
      critic?.kind === 'shared' ? critic : undefined,
    );
    return critic?.kind === 'separate' ? { ...outputs, values: await this.#values(batch, critic) } : outputs;
  }

  async backward(batch: TokenBatch, { dLogprobs, dEntropy, dValues }: TokenGradients): Promise<void> {
    const critic = this.#critic;
    if (dValues && !critic)
      throw new ToolEnvError('bug.critic', 'dValues need a critic: call addCritic first.');
    const shared = dValues && critic?.kind === 'shared' ? critic : undefined;
    const given = { dLogprobs, ...(dEntropy && { dEntropy }), ...(shared && { dValues }) };
    const to = [...this.#group.shapes.keys(), ...(shared?.group.shapes.keys() ?? [])];
    for (const padded of this.#padded(batch)) {
      const { parts } = padded;
      const executable = await this.#compiled(`backward ${Object.keys(given)} in ${parts}`, () => {
        const program = <T>(ops: Ops<T>) => {
          const outputs = tokenOutputs(ops, this.#model.config, parts, this.#lora?.lowRank(ops));
          return { loss: linearFunctional(ops, this.#model.config, outputs, Object.keys(given)) };
        };
        return this.#runtime.compile(program, { of: 'loss', to });
      });
      const weights = { ...(this.#lora?.inputs ?? this.#model.weights), ...shared?.weights };
      const outputs = await executable.run({
        ...this.#inputs(batch, weights, padded),
        ...cotangents(given, padded),
      });
      this.#group.accumulate(outputs);
      shared?.group.accumulate(outputs);
    }
    if (dValues && critic?.kind === 'separate') await this.#backwardOfCritic(batch, dValues, critic);
  }

  async step(options: AdamW): Promise<{ gradNorm: number; criticGradNorm?: number }> {
    if (options.criticOnly) this.#group.clearGradients();
    const critic = this.#critic;
    const gradNorm = this.#group.gradNorm();
    const criticGradNorm = critic?.group.gradNorm();
    // Both are looked at before either is used, so that gradients that are not finite change nothing.
    for (const norm of [gradNorm, criticGradNorm]) {
      if (norm === undefined || Number.isFinite(norm)) continue;
      this.#group.clearGradients();
      critic?.group.clearGradients();
      const message = `The gradient norm is ${norm}: nothing was updated. A lower learning rate may help.`;
      throw new ToolEnvError('bug.gradient_not_finite', message);
    }
    if (gradNorm !== undefined) {
      const trained = await this.#group.step(this.#lora?.weights ?? this.#model.weights, options, gradNorm);
      this.#model.weights = (await this.#lora?.merge(trained)) ?? trained;
      if (this.#lora) this.#lora.weights = trained;
    }
    if (critic && criticGradNorm !== undefined) {
      const ofCritic = { ...options, ...options.critic };
      critic.weights = await critic.group.step(critic.weights, ofCritic, criticGradNorm);
    }
    return { gradNorm: gradNorm ?? 0, ...(critic && { criticGradNorm: criticGradNorm ?? 0 }) };
  }

  async reference(): Promise<Pick<Learner, 'forward'>> {
    const frozen = this.#model.weights;
    return { forward: (batch) => this.#forward(batch, frozen) };
  }

  async save(folder: string): Promise<void> {
    await mkdir(folder, { recursive: true });
    await writeCheckpoint(folder, { ...this.#checkpoint, weights: this.#model.weights });
    const { step, moments } = this.#group.state;
    await this.#lora?.save(folder, this.#checkpoint.folder);
    await writeSafetensors(join(folder, optimizerFile), moments, { step: String(step) });
    if (this.#critic) await writeCritic(folder, this.#critic);
  }

  async load(folder: string): Promise<void> {
    const weights = await readWeights(folder, this.#model.config);
    const adapter = await this.#lora?.read(folder);
    if (adapter) await this.#lora!.refuseOtherBase(adapter, weights, folder);
    const { tensors, metadata } = await readTensors(join(folder, optimizerFile), this.#group.momentShapes);
    const critic = this.#critic && (await readCritic(folder, this.#critic));
    this.#model.weights = weights;
    if (adapter) this.#lora!.weights = adapter;
    this.#group.state = { step: Number(metadata.step), moments: tensors };
    this.#group.clearGradients();
    if (!this.#critic || !critic) return;
    this.#critic.weights = critic.weights;
    this.#critic.group.state = critic.state;
    this.#critic.group.clearGradients();
  }

  async close(): Promise<void> {
    for (const executable of this.#programs.values()) await (await executable).close();
    this.#programs.clear();
    await this.#group.close();
    await this.#lora?.close();
    await this.#critic?.group.close();
  }

  async #forward(batch: TokenBatch, weights: Tensors, critic?: Critic): Promise<TokenOutputs> {
    const outputs: TokenOutputs = { logprobs: zerosLike(batch), entropy: zerosLike(batch) };
    if (critic) outputs.values = zerosLike(batch);
    for (const padded of this.#padded(batch)) {
      const { parts } = padded;
      const name = `forward ${Object.keys(outputs)} in ${parts}`;
      const executable = await this.#compiled(name, () =>
        this.#runtime.compile((ops) => {
          const { states, ...rest } = tokenOutputs(ops, this.#model.config, parts);
          return critic
            ? { ...joined(ops, rest), values: valueHead(ops, this.#model.config, states) }
            : joined(ops, rest);
        }),
      );
      const results = await executable.run(this.#inputs(batch, { ...weights, ...critic?.weights }, padded));
      for (const [name, rows] of Object.entries(outputs))
        scatterSlots(results[name]!.data, padded.slots, rows);
    }
    return outputs;
  }

  /** The values of a critic with a trunk of its own. */
  async #values(batch: TokenBatch, critic: Critic): Promise<Rows> {
    const executable = await this.#compiled('values', () =>
      this.#runtime.compile((ops) => ({ values: separateValues(ops, this.#model.config) })),
    );
    const values = zerosLike(batch);
    for (const padded of this.#padded(batch)) {
      const results = await executable.run(this.#inputs(batch, critic.weights, padded));
      scatterSlots(results.values!.data, padded.slots, values);
    }
    return values;
  }

  async #backwardOfCritic(batch: TokenBatch, dValues: Rows, critic: Critic): Promise<void> {
    const executable = await this.#compiled('backward of values', () => {
      const program = <T>(ops: Ops<T>) => ({
        loss: separateFunctional(ops, this.#model.config),
      });
      return this.#runtime.compile(program, { of: 'loss', to: [...critic.group.shapes.keys()] });
    });
    for (const padded of this.#padded(batch)) {
      const inputs = this.#inputs(batch, critic.weights, padded);
      critic.group.accumulate(await executable.run({ ...inputs, ...cotangents({ dValues }, padded) }));
    }
  }

  #padded({ rows }: TokenBatch): PaddedBatch[] {
    return padRows(rows, { tokenBudget: this.#tokenBudget, vocabulary: this.#model.config.vocab_size });
  }

  #inputs({ temperature = 1 }: TokenBatch, weights: Tensors, { inputs }: PaddedBatch): Tensors {
    return {
      ...weights,
      ...this.#model.constants,
      inverseTemperature: tensor(Float32Array.of(1 / temperature), []),
      ...inputs,
    };
  }

  #compiled(name: string, compile: () => Promise<Executable>): Promise<Executable> {
    let executable = this.#programs.get(name);
    if (!executable) {
      executable = compile();
      this.#programs.set(name, executable);
    }
    return executable;
  }
}

function zerosLike({ rows }: TokenBatch): Rows {
  return rows.map(({ tokens }) => new Float32Array(tokens.length));
}

/** The given gradients by outputs, at a padded batch's action tokens: [M] each. */
function cotangents(given: Record<string, Rows | undefined>, padded: PaddedBatch): Tensors {
  const gathered = Object.entries(given).map(([name, rows]) => {
    const values = gatherSlots(rows!, padded);
    return [name, tensor(values, [values.length])];
  });
  return Object.fromEntries(gathered);
}

/** Hidden states [M, width] at the positions before the action tokens. */
function actionStates<T>(ops: Ops<T>, config: ModelConfig, lowRank?: LowRank<T>): T {
  const tokens = ops.input('tokens', 'int32', ['B', 'T']);
  const positions = ops.input('positions', 'int32', ['B', 'T']);
  const mask = ops.input('mask', 'float32', ['T', 'T']);
  const where = ops.input('where', 'int32', ['M']);
  const hidden = decoder(ops, config, tokens, positions, selfAttention(ops, config, mask), lowRank);
  return ops.gatherRows(hidden, where);
}

/** What the model says of the action tokens, in parts along M: the vocabulary is only computed there, and part by part. */
interface TokenPrograms<T> {
  /** Hidden states [M, width]. */
  states: T;
  logprobs: T[];
  entropy: T[];
}

function tokenOutputs<T>(
  ops: Ops<T>,
  config: ModelConfig,
  parts: number,
  lowRank?: LowRank<T>,
): TokenPrograms<T> {
  const states = actionStates(ops, config, lowRank);
  const targets = inParts(ops, ops.input('targets', 'int32', ['M']), parts);
  const inverseTemperature = ops.input('inverseTemperature', 'float32', []);
  // The temperature divides the hidden states, which is the same and less work: there is no bias, and they are narrower.
  const cooled = inParts(ops, ops.mul(states, inverseTemperature), parts);
  const scores = cooled.map((part) => logits(ops, config, part));
  return {
    states,
    logprobs: scores.map((part, index) => ops.logProbability(part, targets[index]!)),
    entropy: scores.map((part) => ops.entropy(part)),
  };
}

function inParts<T>(ops: Ops<T>, x: T, parts: number): T[] {
  return parts === 1 ? [x] : ops.split(x, 0, parts);
}

/** logprobs [M] and entropy [M]. */
function joined<T>(ops: Ops<T>, outputs: Record<string, T[]>): Record<string, T> {
  const whole = ([first, ...rest]: T[]) => (rest.length === 0 ? first! : ops.concat([first!, ...rest], 0));
  return Object.fromEntries(Object.entries(outputs).map(([name, parts]) => [name, whole(parts)]));
}

/** Values [M] of a critic with a trunk of its own. */
function separateValues<T>(ops: Ops<T>, config: ModelConfig): T {
  return valueHead(ops, config, actionStates(ops, config));
}

/** Σ over `given` of the input of that name times its output, as dLogprobs: its gradient is what `backward` accumulates. */
function linearFunctional<T>(
  ops: Ops<T>,
  config: ModelConfig,
  { states, logprobs, entropy }: TokenPrograms<T>,
  given: readonly string[],
): T {
  const outputs: Record<string, () => T[]> = {
    dLogprobs: () => logprobs,
    dEntropy: () => entropy,
    dValues: () => [valueHead(ops, config, states)],
  };
  const terms = given.flatMap((name) => {
    const parts = outputs[name]!();
    const slopes = inParts(ops, ops.input(name, 'float32', ['M']), parts.length);
    return parts.map((part, index) => ops.sumAll(ops.mul(slopes[index]!, part)));
  });
  return terms.reduce((sum, term) => ops.add(sum, term));
}

/** Σ over the action tokens of dValues times the values of a critic with a trunk of its own. */
function separateFunctional<T>(ops: Ops<T>, config: ModelConfig): T {
  return ops.sumAll(ops.mul(ops.input('dValues', 'float32', ['M']), separateValues(ops, config)));
}
