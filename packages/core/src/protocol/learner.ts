/** Learner: what a trainer needs from a model, independent of the engine that runs it. */
import type { TokenRow } from './encoding.ts';
import type { Policy } from './policy.ts';

export type { TokenRow } from './encoding.ts';

/** Rows of different lengths. A learner pads them, and splits the batch to fit its memory. */
export interface TokenBatch {
  rows: TokenRow[];
  /** Divides the logits, as in sampling. Default 1. */
  temperature?: number;
}

/** Per-token arrays, `rows[B][T]`. */
export type Rows = Float32Array[];

/** Read-only per-token arrays of any precision, `values[B][T]`. */
export type TokenValues = readonly ArrayLike<number>[];

/** What a forward pass computes for each token. All are [B][T]. */
export interface TokenOutputs {
  /** log p(token t | tokens before t) at mask = 1, else 0. */
  logprobs: Rows;
  /**
   * Entropy, in nats, of the distribution from which token t was drawn, at mask = 1, else 0. Absent if the learner cannot
   * compute it: it then takes no `dEntropy`.
   */
  entropy?: Rows;
  /** The critic's estimate, before it sees token t, of the return from token t on, at mask = 1, else 0. Absent without a critic. */
  values?: Rows;
}

/** The outputs that a backward pass computes on its way. */
export type BackwardOutputs = Pick<TokenOutputs, 'logprobs' | 'entropy'>;

/** Gradients of a loss with respect to the outputs, all [B][T]. Entries at mask = 0 are ignored. */
export interface TokenGradients {
  dLogprobs: Rows;
  dEntropy?: Rows;
  /** Requires a critic. */
  dValues?: Rows;
}

/** Where the critic has its weights. */
export interface CriticOptions {
  /**
   * `shared`: a value head on the policy's trunk; the trunk then learns from both losses. `separate`: a second model,
   * which starts as a copy of the policy. In both cases the values are 0 at first.
   */
  critic: 'shared' | 'separate';
}

/** Adam with decoupled weight decay (arXiv 1711.05101), applied after clipping the gradient to a global norm. */
export interface AdamW {
  learningRate: number;
  /** Default 0.9. */
  beta1?: number;
  /** Default 0.999. */
  beta2?: number;
  /** Default 1e-8. */
  epsilon?: number;
  weightDecay?: number;
  /** Largest global L2 norm of the gradient; absent means no clipping. */
  maxGradNorm?: number;
  /** Different settings for the critic's own parameters. Their gradient is clipped separately. */
  critic?: { learningRate?: number; weightDecay?: number; maxGradNorm?: number };
  /** Leaves the policy and its optimizer state unchanged, to warm up a critic. */
  criticOnly?: boolean;
}

/** Noise on each number that `step` changes: independent, of mean 0 and variance `scale`². Equal seeds give equal noise. */
export interface Noise {
  seed: number;
  scale: number;
}

/** What a trainer needs from a model. */
export interface Learner {
  /**
   * What `step` changes: the policy's own weights, or a low-rank adapter (LoRA, arXiv 2106.09685), which learns at a higher
   * rate. Default `weights`.
   */
  readonly trains?: 'weights' | 'adapter';
  /** Ids of tokens are below it. Trainers do not learn from episodes with others, which workers or files may hold. Absent: not checked. */
  readonly vocabularySize?: number;
  forward(batch: TokenBatch): Promise<TokenOutputs>;
  /**
   * Adds the gradients of Σ dLogprobs·logprobs + Σ dEntropy·entropy + Σ dValues·values to the accumulated gradients.
   * Entries at mask = 0 are ignored, even if they are not finite.
   * @returns What `forward` would have returned, if the learner computes it on the way to the gradients. Trainers then log
   *   the entropy without a forward pass.
   */
  // biome-ignore lint/suspicious/noConfusingVoidType: a learner that returns nothing keeps its Promise<void>.
  backward(batch: TokenBatch, gradients: TokenGradients): Promise<BackwardOutputs | void>;
  /** One optimizer step on the accumulated gradients, which it clears. Throws, and changes no weights, if they are not finite. */
  step(optimizer: AdamW): Promise<{ gradNorm: number; criticGradNorm?: number }>;
  /**
   * Adds a critic, in place of an earlier one. Afterwards `forward` returns values, `backward` takes their gradients, and
   * `save` and `load` include the critic. A learner without this method supports no critic.
   */
  addCritic?(options: CriticOptions): Promise<void>;
  /**
   * Lets the policy sample, and `forward` compute, with noise on the weights, until it is called again. Without noise, the weights are as
   * before, bit for bit. Every other method that changes or writes weights takes the noise away first. A learner without this method and
   * `shift` supports no evolution strategies.
   */
  perturb?(noise?: Noise): Promise<void>;
  /** Adds the sum of the noise to the weights for good. */
  shift?(noise: readonly Noise[]): Promise<void>;
  /** A frozen copy of the current policy, for a KL penalty. */
  reference(): Promise<Pick<Learner, 'forward'>>;
  /** Writes weights and optimizer state. */
  save(folder: string): Promise<void>;
  load(folder: string): Promise<void>;
  /**
   * Is given a folder with what `save` wrote, without the state of optimizer and critic. Adds what other programs need to open it. Default:
   * nothing, as the folder is complete.
   */
  completeExport?(folder: string): Promise<void>;
  /** Writes what other processes need to sample from the policy, without optimizer state. Default: what `save` writes. */
  export?(folder: string): Promise<void>;
}

/** A policy whose weights can be trained. */
export interface TrainablePolicy extends Policy {
  /** Trains the weights that the policy samples from. */
  readonly learner: Learner;
}
