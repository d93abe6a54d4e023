/** The Learner of a transformer: compiled forward and backward programs over weights that it shares with the sampler. */
import { join } from 'node:path';
import { ToolEnvError } from '@toolenv/core';
import type {
  AdamW,
  BackwardOutputs,
  CriticOptions,
  Learner,
  Noise,
  Rows,
  TokenBatch,
  TokenGradients,
  TokenOutputs,
} from '@toolenv/core/learner';
import type { MemoryEstimate } from '@toolenv/core/plugins';
import type { Checkpoint } from '../checkpoint/checkpoint.ts';
import { readWeights, untied, writeCheckpoint, writeSmallFiles } from '../checkpoint/checkpoint.ts';
import { readSafetensors, type StoredTypes, writeSafetensors } from '../checkpoint/safetensors.ts';
import { isRecurrent } from '../model/known-architectures.ts';
import { type Model, releaseModel } from '../model/model.ts';
import { parameterShapes } from '../model/parameter-shapes.ts';
import { longestTree } from '../model/rotary.ts';
import type { Ops } from '../runtime/ops.ts';
import { Programs } from '../runtime/programs.ts';
import {
  copyTensors,
  disposeTensors,
  placeTensors,
  readTensorData,
  tensorsExcept,
} from '../runtime/resident-tensor.ts';
import { type Executable, gradientOf, type Runtime, type Tensors, tensor } from '../runtime/runtime.ts';
import type { Shapes } from '../runtime/shape.ts';
import { createParameterGroup } from './create-parameter-group.ts';
import { type Critic, createCritic, readCritic, writeCritic } from './critic.ts';
import { type LearnerOptions, memoryOf } from './learner-options.ts';
import { LoraAdapter } from './lora.ts';
import { lossScale, minLossScale, scaled } from './loss-scale.ts';
import { cotangents, type PaddedBatch, padRows, scatterSlots, zerosLike } from './padded-batch.ts';
import { accumulateAll, allFinite, momentShapes, type ParameterGroup } from './parameter-group.ts';
import { attentionLength } from './prefix-tree.ts';
import { TokenBudget } from './token-budget.ts';
import {
  type BatchKind,
  checkpointedLayers,
  hiddenStates,
  linearFunctional,
  seenInBackward,
  type TokenOutput,
  type TokenSlope,
  tokenOutputs,
  usesLogits,
} from './token-outputs.ts';
import { defaultTokenBudget } from './training-memory.ts';
import { addNoise } from './weight-noise.ts';

const optimizerFile = 'optimizer.safetensors';

/** A call of `backward`. */
interface Pass {
  batch: TokenBatch;
  run(): Promise<Required<BackwardOutputs>>;
}

export class TransformerLearner implements Learner {
  readonly #runtime: Runtime;
  readonly #model: Model;
  readonly #checkpoint: Pick<Checkpoint, 'folder' | 'files' | 'types'>;
  readonly #budget: TokenBudget;
  readonly #checkpointing: boolean;
  readonly #programs: Programs = new Programs();
  readonly #group: ParameterGroup;
  readonly #lora: LoraAdapter | undefined;
  #critic: Critic | undefined;
  /** The backward passes since the last step, to do them again in smaller batches. */
  #passes: Pass[] = [];
  /** Copies of weights that references use. */
  readonly #frozen: Tensors[] = [];
  /** While the model has noise: its weights without, or those of the adapter. */
  #calm: Tensors | undefined;

  constructor(
    runtime: Runtime,
    model: Model,
    { folder, files, types }: Pick<Checkpoint, 'folder' | 'files' | 'types'>,
    { gradientCheckpointing = false, tokenBudget, lora }: LearnerOptions = {},
  ) {
    this.#runtime = runtime;
    this.#model = model;
    model.users.add(this);
    this.#checkpoint = { folder, files, types };
    this.#checkpointing = gradientCheckpointing;
    this.#lora = lora && new LoraAdapter(runtime, model.config, model.weights, lora);
    this.#group = createParameterGroup(runtime, this.#lora?.shapes ?? parameterShapes(model.config));
    const fitting = { gradientCheckpointing, trained: this.#group.shapes };
    this.#budget = new TokenBudget(tokenBudget ?? defaultTokenBudget(model.config, fitting), {
      gradientCheckpointing,
      isAdapter: lora !== undefined,
      batchesOf: (batch, budget) => this.#padded(batch, budget),
    });
  }

  get vocabularySize(): number {
    return this.#model.config.vocab_size;
  }

  get trains(): 'weights' | 'adapter' {
    return this.#lora ? 'adapter' : 'weights';
  }

  /** An estimate of the memory for training, without a critic, even if rows are as long as the budget and the context allow. */
  get memory(): MemoryEstimate {
    return this.memoryFor();
  }

  /** The same for rows of the given number of tokens. */
  memoryFor(rowLength?: number): MemoryEstimate {
    return memoryOf(this.#model.config, {
      tokenBudget: this.#budget.tokens,
      ...(rowLength !== undefined && { rowLength }),
      gradientCheckpointing: this.#checkpointing,
      trained: this.#group.shapes,
      isAdapter: this.#lora !== undefined,
    });
  }

  async addCritic({ critic }: CriticOptions): Promise<void> {
    this.#critic = await createCritic(critic, this.#runtime, this.#model);
  }

  forward(batch: TokenBatch): Promise<TokenOutputs & { entropy: Rows }> {
    return this.#budget.within([batch], () => this.#forwardOfAll(batch));
  }

  async #forwardOfAll(batch: TokenBatch): Promise<TokenOutputs & { entropy: Rows }> {
    const critic = this.#critic;
    const { weights } = this.#model;
    if (critic?.kind === 'shared')
      return this.#forward(batch, { ...weights, ...critic.weights }, ['logprobs', 'entropy', 'values']);
    const outputs = await this.#forward(batch, weights, ['logprobs', 'entropy']);
    return critic ? { ...outputs, ...(await this.#forward(batch, critic.weights, ['values'])) } : outputs;
  }

  async backward(batch: TokenBatch, gradients: TokenGradients): Promise<Required<BackwardOutputs>> {
    if (gradients.dValues && !this.#critic)
      throw new ToolEnvError('bug.critic', 'dValues needs a critic: call addCritic first.');
    const earlier = [...this.#passes];
    const pass: Pass = { batch, run: () => this.#backwardOfAll(batch, gradients) };
    const batches = [...earlier, pass].map(({ batch }) => batch);
    const again = async () => {
      // Nothing of the attempt counts, nor of the passes in larger batches before it.
      this.#clearGradients();
      for (const { run } of earlier) await run();
      this.#passes.push(...earlier);
      return pass.run();
    };
    try {
      const outputs = await this.#budget.within(batches, pass.run, again);
      this.#passes.push(pass);
      return outputs;
    } catch (error) {
      this.#clearGradients();
      throw error;
    }
  }

  async #backwardOfAll(
    batch: TokenBatch,
    { dLogprobs, dEntropy, dValues }: TokenGradients,
  ): Promise<Required<BackwardOutputs>> {
    const critic = this.#critic;
    const weights = this.#lora?.inputs ?? this.#model.weights;
    const slopes = { dLogprobs, ...(dEntropy && { dEntropy }) };
    if (dValues && critic?.kind === 'shared') {
      const shared = { ...weights, ...critic.weights };
      return this.#backward(batch, shared, { ...slopes, dValues }, [this.#group, critic.group], this.#lora);
    }
    const outputs = await this.#backward(batch, weights, slopes, [this.#group], this.#lora);
    if (dValues && critic) await this.#backward(batch, critic.weights, { dValues }, [critic.group]);
    return outputs;
  }

  async perturb(noise?: Noise): Promise<void> {
    // Whoever has the model to themselves may ask for weights without noise, which it then has.
    if (noise || this.#calm) await this.#model.exclusively(() => this.#perturb(noise));
  }

  async #perturb(noise?: Noise): Promise<void> {
    const calm = this.#calm ?? this.#lora?.weights ?? this.#model.weights;
    if (noise) {
      const moved = await this.#move(calm, [noise], this.#lora || !this.#calm ? {} : this.#model.weights);
      if (this.#lora) disposeTensors(moved);
    } else if (this.#lora && this.#calm) await this.#merge(calm);
    else if (this.#calm) this.#take(calm);
    this.#calm = noise && calm;
  }

  shift(noise: readonly Noise[]): Promise<void> {
    return this.#model.exclusively(async () => {
      await this.#perturb();
      const weights = this.#lora?.weights ?? this.#model.weights;
      const moved = await this.#move(weights, noise, weights);
      if (this.#lora) this.#lora.weights = moved;
    });
  }

  /** Lets the model compute with weights, or an adapter, plus noise. @param into As in {@link addNoise}. */
  async #move(weights: Tensors, noise: readonly Noise[], into: Tensors): Promise<Tensors> {
    const moved = await addNoise(this.#runtime, weights, this.#group.shapes, noise, into);
    if (this.#lora) await this.#merge(moved);
    else this.#model.weights = moved;
    return moved;
  }

  async #merge(adapter: Tensors): Promise<void> {
    const before = tensorsExcept(this.#model.weights, this.#lora!.inputs);
    this.#model.weights = await this.#lora!.merge(adapter, before);
  }

  async step(options: AdamW): Promise<{ gradNorm: number; criticGradNorm?: number }> {
    this.#passes = [];
    await this.perturb();
    return this.#model.exclusively(() => this.#budget.explain(() => this.#step(options)));
  }

  #clearGradients(): void {
    this.#passes = [];
    this.#group.clearGradients();
    this.#critic?.group.clearGradients();
  }

  async #step(options: AdamW): Promise<{ gradNorm: number; criticGradNorm?: number }> {
    if (options.criticOnly) this.#group.clearGradients();
    const critic = this.#critic;
    const gradNorm = await this.#group.gradNorm();
    const criticGradNorm = await critic?.group.gradNorm();
    // Check both norms before either step, so that gradients that are not finite change nothing.
    for (const norm of [gradNorm, criticGradNorm]) {
      if (norm === undefined || Number.isFinite(norm)) continue;
      this.#clearGradients();
      const message = `The gradient norm is ${norm}; nothing was updated. Check the loss, or lower the learning rate.`;
      throw new ToolEnvError('bug.gradient_not_finite', message);
    }
    if (gradNorm !== undefined) {
      if (this.#lora) {
        this.#lora.weights = await this.#group.step(this.#lora.weights, options, gradNorm);
        await this.#merge(this.#lora.weights);
      } else this.#model.weights = await this.#group.step(this.#model.weights, options, gradNorm);
    }
    if (critic && criticGradNorm !== undefined) {
      const ofCritic = { ...options, ...options.critic };
      critic.weights = await critic.group.step(critic.weights, ofCritic, criticGradNorm);
    }
    return { gradNorm: gradNorm ?? 0, ...(critic && { criticGradNorm: criticGradNorm ?? 0 }) };
  }

  async reference(): Promise<Pick<Learner, 'forward'>> {
    await this.perturb();
    const { weights } = this.#model;
    // An adapter's base never changes and needs no copy.
    const copies = await copyTensors(this.#runtime, tensorsExcept(weights, this.#lora?.inputs ?? {}));
    this.#frozen.push(copies);
    const forward = (batch: TokenBatch) =>
      this.#forward(batch, { ...weights, ...copies }, ['logprobs', 'entropy']);
    return { forward: (batch) => this.#budget.within([batch], () => forward(batch)) };
  }

  /**
   * Writes a Hugging Face folder with the exact weights, so that other processes sample from the policy that learns. With an adapter, its
   * weights are merged, and it has its own folder too.
   */
  async export(folder: string): Promise<void> {
    await this.#write(folder, {});
  }

  /**
   * Writes what {@link step} changes, for a server that samples: the adapter, or a folder with the exact weights and an output matrix of its
   * own.
   * @returns The folder that peft or transformers opens.
   */
  async exportForServer(folder: string): Promise<string> {
    if (this.#lora) return this.#lora.save(folder, this.#checkpoint.folder);
    await this.perturb();
    const weights = await readTensorData(this.#runtime, this.#model.weights);
    await writeCheckpoint(folder, untied({ files: this.#checkpoint.files, weights }));
    return folder;
  }

  /** Writes the folder of {@link export} in the precision in which the model was read. */
  async saveModel(folder: string): Promise<void> {
    await this.#write(folder, this.#checkpoint.types);
  }

  /** @returns The exact weights that the folder has rounded, as {@link exactOf} names them. */
  async #write(folder: string, types: StoredTypes | undefined): Promise<Tensors> {
    await this.perturb();
    const weights = await readTensorData(this.#runtime, this.#model.weights);
    const written = await writeCheckpoint(folder, { ...this.#checkpoint, types, weights });
    await this.#lora?.save(folder, this.#checkpoint.folder);
    return Object.fromEntries(roundedNames(written).map((name) => [exactOf(name), weights[name]!]));
  }

  /**
   * Writes what a resumed run needs, in a folder that opens as a policy: the model as {@link saveModel} writes it, or an adapter without its
   * base model.
   */
  async save(folder: string): Promise<void> {
    await this.perturb();
    // The file of an adapter is exact.
    const exact = this.#lora ? {} : await this.#write(folder, this.#checkpoint.types);
    if (this.#lora) {
      await writeSmallFiles(folder, this.#checkpoint.files);
      await this.#lora.save(folder, this.#checkpoint.folder);
    }
    const { step, moments } = await this.#group.state();
    const metadata = { step: String(step), ...(await this.#lora?.identity()) };
    await writeSafetensors(join(folder, optimizerFile), { ...moments, ...exact }, metadata);
    if (this.#critic) await writeCritic(folder, this.#runtime, this.#critic);
  }

  /** Adds the merged weights of an adapter, in the precision in which its base model was read. */
  async completeExport(folder: string): Promise<void> {
    if (!this.#lora) return;
    const merged = await this.#lora.merge(await this.#lora.read(folder));
    const weights = await readTensorData(this.#runtime, merged);
    disposeTensors(tensorsExcept(merged, this.#lora.inputs));
    await writeCheckpoint(folder, { ...this.#checkpoint, weights });
  }

  async load(folder: string): Promise<void> {
    await this.perturb();
    const adapter = await this.#lora?.read(folder);
    const { weights, types } = adapter
      ? { weights: {}, types: {} }
      : await readWeights(folder, this.#model.config);
    const rounded = roundedNames(types);
    const exact = new Map(rounded.map((name) => [exactOf(name), weights[name]!.dims]));
    const { tensors, metadata } = await readSafetensors(
      join(folder, optimizerFile),
      new Map([...momentShapes(this.#group.shapes), ...exact]),
    );
    await this.#lora?.refuseOtherBase(folder, metadata);
    for (const name of rounded) weights[name] = tensors[exactOf(name)]!;
    const critic = this.#critic && (await readCritic(folder, this.#critic));
    const merged = adapter && (await this.#lora!.merge(adapter));
    if (adapter) {
      disposeTensors(this.#lora!.weights);
      this.#lora!.weights = adapter;
    }
    this.#passes = [];
    const placed = merged ?? (await placeTensors(this.#runtime, weights));
    await this.#model.exclusively(async () => this.#take(placed));
    await this.#group.restore({ step: Number(metadata.step), moments: tensors });
    this.#group.clearGradients();
    if (!this.#critic || !critic) return;
    disposeTensors(this.#critic.weights);
    this.#critic.weights = critic.weights;
    await this.#critic.group.restore(critic.state);
    this.#critic.group.clearGradients();
  }

  async close(): Promise<void> {
    for (const weights of this.#frozen) disposeTensors(weights);
    disposeTensors(tensorsExcept(this.#lora?.inputs ?? {}, this.#model.weights));
    disposeTensors(this.#critic?.weights ?? {});
    if (!this.#lora) disposeTensors(this.#calm ?? {});
    releaseModel(this.#model, this);
    await this.#group.close();
    await this.#critic?.group.close();
    await this.#programs.closeAll();
    await this.#lora?.close();
  }

  /** Replaces the model's weights and disposes the old ones, except an adapter's base. */
  #take(weights: Tensors): void {
    const before = this.#model.weights;
    this.#model.weights = weights;
    disposeTensors(tensorsExcept(before, this.#lora?.inputs ?? {}));
  }

  async #forward<Name extends TokenOutput>(
    batch: TokenBatch,
    weights: Tensors,
    names: readonly Name[],
  ): Promise<Record<Name, Rows>> {
    const { config } = this.#model;
    const outputs = Object.fromEntries(names.map((name) => [name, zerosLike(batch)])) as Record<Name, Rows>;
    for (const padded of this.#padded(batch)) {
      const executable = await this.#programs.get(`forward ${names} ${nameOf(padded)}`, () =>
        this.#runtime.compile((ops) =>
          tokenOutputs(ops, config, hiddenStates(ops, config, padded), names, padded),
        ),
      );
      const results = await executable.run(this.#inputs(batch, weights, padded));
      for (const name of names) scatterSlots(results[name]!.data, padded.slots, outputs[name]);
    }
    return outputs;
  }

  async #backward(
    batch: TokenBatch,
    weights: Tensors,
    slopes: Partial<Record<TokenSlope, Rows>>,
    groups: readonly ParameterGroup[],
    lora?: LoraAdapter,
  ): Promise<Required<BackwardOutputs>> {
    const names = Object.keys(slopes) as TokenSlope[];
    const outputs = { logprobs: zerosLike(batch), entropy: zerosLike(batch) };
    const trained = new Map(groups.flatMap(({ shapes }) => [...shapes]));
    for (const padded of this.#padded(batch)) {
      const executable = await this.#programs.get(`backward ${names} ${nameOf(padded)}`, () =>
        this.#compileBackward(names, padded, trained, lora),
      );
      const inputs = this.#inputs(batch, weights, padded);
      const given = cotangents(slopes, padded);
      const into: Tensors = Object.assign({}, ...groups.map(({ destination }) => destination));
      const run = (scale: number) => executable.run({ ...inputs, ...scaled(given, scale) }, into);
      const isNarrow = this.#runtime.precision === 'float16';
      let scale = isNarrow ? lossScale(given) : 1;
      let results = await run(scale);
      // On overflow, retry with a smaller loss scale.
      while (isNarrow && scale > minLossScale && !(await allFinite(groups, results))) {
        disposeTensors(results);
        scale /= 16;
        results = await run(scale);
      }
      await accumulateAll(groups, results, 1 / scale);
      for (const name of usesLogits(names) ? seenInBackward : [])
        scatterSlots(results[name]!.data, padded.slots, outputs[name]);
    }
    return outputs;
  }

  #compileBackward(
    names: readonly TokenSlope[],
    kind: BatchKind,
    trained: Shapes,
    lora: LoraAdapter | undefined,
  ): Promise<Executable> {
    const { config } = this.#model;
    const program = <T>(ops: Ops<T>) => {
      const options = {
        ...(lora && { lowRank: lora.lowRank(ops) }),
        ...(this.#checkpointing && { computeLayer: checkpointedLayers(ops, trained) }),
      };
      return linearFunctional(ops, config, hiddenStates(ops, config, kind, options), names, kind, trained);
    };
    return this.#runtime.compile(program, {
      gradients: { of: 'loss', to: [...trained.keys()] },
      stays: (name) => name.startsWith(gradientOf('')),
    });
  }

  #padded({ rows }: TokenBatch, tokenBudget: number = this.#budget.tokens): PaddedBatch[] {
    const { config } = this.#model;
    const { tokensPerRun, prefersFewOperations } = this.#runtime;
    return padRows(rows, {
      tokenBudget,
      longestTree: longestTree(config),
      tokensPerBatch: tokensPerRun,
      vocabulary: config.vocab_size,
      attentionLength: attentionLength(config),
      fewBlocks: prefersFewOperations,
      recurrent: isRecurrent(config),
    });
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

/** The name, in the optimizer's file, of a weight that the model's file has rounded. */
function exactOf(name: string): string {
  return `weight ${name}`;
}

function roundedNames(types: StoredTypes): string[] {
  return Object.keys(types).filter((name) => types[name] !== 'float32');
}

/** Batches of one kind run the same program. */
function nameOf({ parts, blocks, branches, chunks }: BatchKind): string {
  return `in ${parts}, ${blocks} and ${chunks}${branches ? ' with branches' : ''}`;
}
