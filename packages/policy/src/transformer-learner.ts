/** The Learner of a transformer: compiled programs for forward and backward, over shared weights. */
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
import { compileCheckpointed } from './checkpointed-backward.ts';
import { type Critic, createCritic, readCritic, writeCritic } from './critic.ts';
import { parameterShapes } from './decoder.ts';
import { LoraAdapter, type LoraOptions } from './lora.ts';
import { leastLossScale, lossScale, scaled } from './loss-scale.ts';
import type { Model } from './model.ts';
import type { Ops } from './ops.ts';
import { gatherSlots, type PaddedBatch, padRows, scatterSlots } from './padded-batch.ts';
import { ParameterGroup } from './parameter-group.ts';
import { Programs } from './programs.ts';
import { copyOf, type Executable, type Runtime, type Tensors, tensor } from './runtime.ts';
import { readTensors, writeSafetensors } from './safetensors.ts';
import {
  hiddenStates,
  linearFunctional,
  type TokenOutput,
  type TokenSlope,
  tokenOutputs,
} from './token-outputs.ts';
import { defaultTokenBudget, type TrainingMemory, trainingMemory } from './training-memory.ts';

const optimizerFile = 'optimizer.safetensors';

export interface LearnerOptions {
  /** Padded tokens computed at a time; a longer row goes alone. Default: as many as 1.5 GiB or five times the weights hold of activations, at most 4096. */
  tokenBudget?: number;
  /** Keep only what enters each layer, and compute the layer again for its gradient: less memory, a third more work. */
  gradientCheckpointing?: boolean;
  /** Train an adapter and leave the model's own weights as they are. Default: all weights are trained. */
  lora?: LoraOptions;
}

export class TransformerLearner implements Learner {
  readonly #runtime: Runtime;
  readonly #model: Model;
  readonly #checkpoint: Pick<Checkpoint, 'folder' | 'files'>;
  readonly #tokenBudget: number;
  readonly #checkpointing: boolean;
  readonly #programs: Programs = new Programs();
  readonly #group: ParameterGroup;
  readonly #lora: LoraAdapter | undefined;
  #critic: Critic | undefined;

  constructor(
    runtime: Runtime,
    model: Model,
    { folder, files }: Pick<Checkpoint, 'folder' | 'files'>,
    {
      gradientCheckpointing = false,
      tokenBudget = defaultTokenBudget(model.config, gradientCheckpointing),
      lora,
    }: LearnerOptions = {},
  ) {
    this.#runtime = runtime;
    this.#model = model;
    this.#checkpoint = { folder, files };
    this.#tokenBudget = tokenBudget;
    this.#checkpointing = gradientCheckpointing;
    this.#lora = lora && new LoraAdapter(runtime, model.config, model.weights, lora);
    this.#group = new ParameterGroup(this.#lora?.shapes ?? parameterShapes(model.config));
  }

  /** An estimate, without the critic that a trainer may add. */
  get memory(): TrainingMemory {
    return trainingMemory(this.#model.config, {
      tokenBudget: this.#tokenBudget,
      gradientCheckpointing: this.#checkpointing,
      trained: this.#group.shapes,
    });
  }

  async addCritic({ critic }: CriticOptions): Promise<void> {
    this.#critic = createCritic(critic, this.#model);
  }

  async forward(batch: TokenBatch): Promise<TokenOutputs> {
    const critic = this.#critic;
    const { weights } = this.#model;
    if (critic?.kind === 'shared')
      return this.#forward(batch, { ...weights, ...critic.weights }, ['logprobs', 'entropy', 'values']);
    const outputs = await this.#forward(batch, weights, ['logprobs', 'entropy']);
    return critic ? { ...outputs, ...(await this.#forward(batch, critic.weights, ['values'])) } : outputs;
  }

  async backward(batch: TokenBatch, { dLogprobs, dEntropy, dValues }: TokenGradients): Promise<void> {
    const critic = this.#critic;
    if (dValues && !critic)
      throw new ToolEnvError('bug.critic', 'dValues need a critic: call addCritic first.');
    const weights = this.#lora?.inputs ?? this.#model.weights;
    const slopes = { dLogprobs, ...(dEntropy && { dEntropy }) };
    if (dValues && critic?.kind === 'shared') {
      const shared = { ...weights, ...critic.weights };
      await this.#backward(batch, shared, { ...slopes, dValues }, [this.#group, critic.group], this.#lora);
      return;
    }
    await this.#backward(batch, weights, slopes, [this.#group], this.#lora);
    if (dValues && critic) await this.#backward(batch, critic.weights, { dValues }, [critic.group]);
  }

  step(options: AdamW): Promise<{ gradNorm: number; criticGradNorm?: number }> {
    return this.#model.turns.take(() => this.#step(options));
  }

  async #step(options: AdamW): Promise<{ gradNorm: number; criticGradNorm?: number }> {
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
      const trained = this.#group.step(this.#lora?.weights ?? this.#model.weights, options, gradNorm);
      this.#model.weights = (await this.#lora?.merge(trained)) ?? trained;
      if (this.#lora) this.#lora.weights = trained;
    }
    if (critic && criticGradNorm !== undefined) {
      const ofCritic = { ...options, ...options.critic };
      critic.weights = critic.group.step(critic.weights, ofCritic, criticGradNorm);
    }
    return { gradNorm: gradNorm ?? 0, ...(critic && { criticGradNorm: criticGradNorm ?? 0 }) };
  }

  async reference(): Promise<Pick<Learner, 'forward'>> {
    const { weights } = this.#model;
    const copies = () => Object.entries(weights).map(([name, value]) => [name, copyOf(value)]);
    // Weights with an adapter in them are new ones after each step.
    const frozen: Tensors = this.#lora ? weights : Object.fromEntries(copies());
    return { forward: (batch) => this.#forward(batch, frozen, ['logprobs', 'entropy']) };
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
    await this.#programs.closeAll();
    await this.#lora?.close();
  }

  async #forward<Name extends TokenOutput>(
    batch: TokenBatch,
    weights: Tensors,
    names: readonly Name[],
  ): Promise<Record<Name, Rows>> {
    const { config } = this.#model;
    const outputs = Object.fromEntries(names.map((name) => [name, zerosLike(batch)])) as Record<Name, Rows>;
    for (const padded of this.#padded(batch)) {
      const { parts, slots } = padded;
      const executable = await this.#programs.get(`forward ${names} in ${parts}`, () =>
        this.#runtime.compile((ops) => tokenOutputs(ops, config, hiddenStates(ops, config), names, parts)),
      );
      const results = await executable.run(this.#inputs(batch, weights, padded));
      for (const name of names) scatterSlots(results[name]!.data, slots, outputs[name]);
    }
    return outputs;
  }

  async #backward(
    batch: TokenBatch,
    weights: Tensors,
    slopes: Partial<Record<TokenSlope, Rows>>,
    groups: readonly ParameterGroup[],
    lora?: LoraAdapter,
  ): Promise<void> {
    const names = Object.keys(slopes) as TokenSlope[];
    const to = groups.flatMap(({ shapes }) => [...shapes.keys()]);
    for (const padded of this.#padded(batch)) {
      const executable = await this.#programs.get(`backward ${names} in ${padded.parts}`, () =>
        this.#compileBackward(names, padded.parts, to, lora),
      );
      const inputs = this.#inputs(batch, weights, padded);
      const given = cotangents(slopes, padded);
      const into: Tensors = Object.assign({}, ...groups.map(({ destination }) => destination));
      const run = (scale: number) => executable.run({ ...inputs, ...scaled(given, scale) }, into);
      const isNarrow = this.#runtime.precision === 'float16';
      let scale = isNarrow ? lossScale(given) : 1;
      await run(scale);
      // What grew beyond float16 on its way comes again, smaller.
      while (isNarrow && scale > leastLossScale && !groups.every(({ arrivedFinite }) => arrivedFinite)) {
        scale /= 16;
        await run(scale);
      }
      for (const group of groups) group.accumulate(1 / scale);
    }
  }

  #compileBackward(
    names: readonly TokenSlope[],
    parts: number,
    to: readonly string[],
    lora: LoraAdapter | undefined,
  ): Promise<Executable> {
    const { config } = this.#model;
    const loss = <T>(ops: Ops<T>, hidden: T) => linearFunctional(ops, config, hidden, names, parts);
    const usesLogits = names.some((name) => name !== 'dValues');
    const lowRank = lora && (<T>(ops: Ops<T>) => lora.lowRank(ops));
    if (this.#checkpointing)
      return compileCheckpointed(this.#runtime, { config, loss, usesLogits, lowRank, to });
    return this.#runtime.compile((ops) => ({ loss: loss(ops, hiddenStates(ops, config, lowRank?.(ops))) }), {
      of: 'loss',
      to,
    });
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
