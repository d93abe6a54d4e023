/** The Learner of a transformer: compiled programs for forward, backward and the optimizer, over shared weights. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type AdamW,
  type Learner,
  type Rows,
  type TokenBatch,
  type TokenOutputs,
  ToolEnvError,
} from '@toolenv/core';
import { adamwProgram, adamwSettings, stateOf } from './adamw.ts';
import type { Checkpoint } from './checkpoint.ts';
import { readWeights, writeCheckpoint } from './checkpoint.ts';
import type { Model } from './model.ts';
import type { Ops } from './ops.ts';
import { gatherSlots, padRows, scatterSlots } from './padded-batch.ts';
import { logits, parameterShapes, type Qwen2Config, qwen2, selfAttention } from './qwen2.ts';
import { type Executable, gradientOf, type Runtime, type Tensor, type Tensors, tensor } from './runtime.ts';
import { readTensors, writeSafetensors } from './safetensors.ts';

const optimizerFile = 'optimizer.safetensors';

export interface LearnerOptions {
  /** Padded tokens computed at a time: more is faster until memory or cache runs out. */
  tokenBudget?: number;
}

export class TransformerLearner implements Learner {
  readonly #runtime: Runtime;
  readonly #model: Model;
  readonly #checkpoint: Checkpoint;
  readonly #tokenBudget: number;
  readonly #shapes: Map<string, readonly number[]>;
  readonly #programs: Map<string, Promise<Executable>> = new Map();
  #gradients: Map<string, Float32Array> | undefined;
  #optimizer: { step: number; state: Tensors };

  constructor(
    runtime: Runtime,
    model: Model,
    checkpoint: Checkpoint,
    { tokenBudget = 4096 }: LearnerOptions = {},
  ) {
    this.#runtime = runtime;
    this.#model = model;
    this.#checkpoint = checkpoint;
    this.#tokenBudget = tokenBudget;
    this.#shapes = parameterShapes(model.config);
    this.#optimizer = { step: 0, state: this.#freshState() };
  }

  async forward(batch: TokenBatch): Promise<TokenOutputs> {
    return this.#forward(batch, this.#model.weights);
  }

  async backward(
    batch: TokenBatch,
    { dLogprobs, dEntropy }: { dLogprobs: Rows; dEntropy?: Rows },
  ): Promise<void> {
    const withEntropy = dEntropy !== undefined;
    const executable = await this.#compiled(withEntropy ? 'backward with entropy' : 'backward', () => {
      const program = <T>(ops: Ops<T>) => ({ loss: linearFunctional(ops, this.#model.config, withEntropy) });
      return this.#runtime.compile(program, { of: 'loss', to: [...this.#shapes.keys()] });
    });
    for (const { inputs, slots } of padRows(batch.rows, this.#tokenBudget)) {
      const cotangents: Tensors = { dLogprobs: tensor(gatherSlots(dLogprobs, slots), [slots.length]) };
      if (dEntropy) cotangents.dEntropy = tensor(gatherSlots(dEntropy, slots), [slots.length]);
      const outputs = await executable.run({
        ...this.#inputs(batch, this.#model.weights),
        ...inputs,
        ...cotangents,
      });
      this.#accumulate(outputs);
    }
  }

  async step(options: AdamW): Promise<{ gradNorm: number }> {
    const gradients = this.#gradients;
    if (!gradients) return { gradNorm: 0 };
    this.#gradients = undefined;
    const executable = await this.#compiled('adamw', () => this.#runtime.compile(adamwProgram(this.#shapes)));
    const { state } = this.#optimizer;
    const step = this.#optimizer.step + 1;
    const inputs: Tensors = { ...this.#model.weights, ...state, ...adamwSettings(options, step) };
    for (const [name, shape] of this.#shapes)
      inputs[stateOf.gradient(name)] = tensor(gradients.get(name)!, shape);
    const outputs = await executable.run(inputs);
    const gradNorm = outputs.gradNorm!.data[0]!;
    if (!Number.isFinite(gradNorm)) {
      const message = `The gradient norm is ${gradNorm}: nothing was updated; lower the learning rate.`;
      throw new ToolEnvError('bug.gradient_not_finite', message);
    }
    const updated = (names: Iterable<string>): Tensors =>
      Object.fromEntries([...names].map((name) => [name, outputs[stateOf.updated(name)] as Tensor]));
    this.#model.weights = updated(this.#shapes.keys());
    this.#optimizer = { step, state: updated(Object.keys(state)) };
    return { gradNorm };
  }

  async reference(): Promise<Pick<Learner, 'forward'>> {
    const frozen = this.#model.weights;
    return { forward: (batch) => this.#forward(batch, frozen) };
  }

  async save(folder: string): Promise<void> {
    await mkdir(folder, { recursive: true });
    await writeCheckpoint(folder, { ...this.#checkpoint, weights: this.#model.weights });
    const { step, state } = this.#optimizer;
    await writeSafetensors(join(folder, optimizerFile), state, { step: String(step) });
  }

  async load(folder: string): Promise<void> {
    const weights = await readWeights(folder, this.#model.config);
    const shapes = new Map(Object.entries(this.#freshState()).map(([name, { dims }]) => [name, dims]));
    const { tensors, metadata } = await readTensors(join(folder, optimizerFile), shapes);
    this.#model.weights = weights;
    this.#optimizer = { step: Number(metadata.step), state: tensors };
    this.#gradients = undefined;
  }

  async close(): Promise<void> {
    for (const executable of this.#programs.values()) await (await executable).close();
    this.#programs.clear();
  }

  async #forward(batch: TokenBatch, weights: Tensors): Promise<TokenOutputs> {
    const executable = await this.#compiled('forward', () =>
      this.#runtime.compile((ops) => tokenOutputs(ops, this.#model.config)),
    );
    const zeros = () => batch.rows.map(({ tokens }) => new Float32Array(tokens.length));
    const outputs = { logprobs: zeros(), entropy: zeros() };
    for (const { inputs, slots } of padRows(batch.rows, this.#tokenBudget)) {
      const results = await executable.run({ ...this.#inputs(batch, weights), ...inputs });
      scatterSlots(results.logprobs!.data, slots, outputs.logprobs);
      scatterSlots(results.entropy!.data, slots, outputs.entropy);
    }
    return outputs;
  }

  #inputs({ temperature = 1 }: TokenBatch, weights: Tensors): Tensors {
    return {
      ...weights,
      ...this.#model.constants,
      inverseTemperature: tensor(Float32Array.of(1 / temperature), []),
    };
  }

  #accumulate(outputs: Tensors): void {
    const fresh = this.#gradients === undefined;
    this.#gradients ??= new Map();
    for (const name of this.#shapes.keys()) {
      const contribution = outputs[gradientOf(name)]!.data as Float32Array;
      if (fresh) {
        this.#gradients.set(name, contribution);
        continue;
      }
      const sum = this.#gradients.get(name)!;
      for (let i = 0; i < sum.length; i++) sum[i]! += contribution[i]!;
    }
  }

  #compiled(name: string, compile: () => Promise<Executable>): Promise<Executable> {
    let executable = this.#programs.get(name);
    if (!executable) {
      executable = compile();
      this.#programs.set(name, executable);
    }
    return executable;
  }

  #freshState(): Tensors {
    const state: Tensors = {};
    for (const [name, shape] of this.#shapes) {
      const size = shape.reduce((product, dim) => product * dim, 1);
      state[stateOf.mean(name)] = tensor(new Float32Array(size), shape);
      state[stateOf.variance(name)] = tensor(new Float32Array(size), shape);
    }
    return state;
  }
}

/** logprobs [M] and entropy [M] of the action tokens; the vocabulary is only computed at those. */
function tokenOutputs<T>(ops: Ops<T>, config: Qwen2Config): { logprobs: T; entropy: T } {
  const tokens = ops.input('tokens', 'int32', ['B', 'T']);
  const positions = ops.input('positions', 'int32', ['B', 'T']);
  const mask = ops.input('mask', 'float32', ['T', 'T']);
  const where = ops.input('where', 'int32', ['M']);
  const targets = ops.input('targets', 'int32', ['M']);
  const inverseTemperature = ops.input('inverseTemperature', 'float32', []);
  const hidden = qwen2(ops, config, tokens, positions, selfAttention(ops, config, mask));
  // The temperature divides the hidden states, which is the same and less work: there is no bias, and they are narrower.
  const scores = logits(ops, config, ops.mul(ops.gatherRows(hidden, where), inverseTemperature));
  return { logprobs: ops.logProbability(scores, targets), entropy: ops.entropy(scores) };
}

/** Σ dLogprobs·logprobs (+ Σ dEntropy·entropy): its gradient is what `backward` accumulates. */
function linearFunctional<T>(ops: Ops<T>, config: Qwen2Config, withEntropy: boolean): T {
  const { logprobs, entropy } = tokenOutputs(ops, config);
  const term = (name: string, values: T) => ops.sumAll(ops.mul(ops.input(name, 'float32', ['M']), values));
  const loss = term('dLogprobs', logprobs);
  return withEntropy ? ops.add(loss, term('dEntropy', entropy)) : loss;
}
