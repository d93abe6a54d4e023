/** Learner: what a trainer needs of a model, and nothing of how. */

/** One sequence to learn from. All arrays have one length T. */
export interface TokenRow {
  tokens: Int32Array;
  /** 1 where the policy generated the token; outputs and gradients exist only there. Position 0 must be 0. */
  mask: Uint8Array;
}

/** Ragged rows; a learner pads and splits them as its memory asks. */
export interface TokenBatch {
  rows: TokenRow[];
  /** Divides the logits, as the sampler's did. Default 1. */
  temperature?: number;
}

/** Per-token arrays, `rows[B][T]`. */
export type Rows = Float32Array[];

/** Per-token arrays of any precision, `values[B][T]`, to be read. */
export type TokenValues = readonly ArrayLike<number>[];

export interface TokenOutputs {
  /** log p(token t | tokens before t) at mask = 1, else 0. */
  logprobs: Rows;
  /** Entropy, in nats, of the distribution token t was drawn from, at mask = 1, else 0. */
  entropy: Rows;
}

/** Decoupled weight decay Adam (arXiv 1711.05101), after clipping the gradient to a global norm. */
export interface AdamW {
  learningRate: number;
  beta1?: number;
  beta2?: number;
  epsilon?: number;
  weightDecay?: number;
  /** Global L2 norm of the gradient at most; absent means no clipping. */
  maxGradNorm?: number;
}

export interface Learner {
  forward(batch: TokenBatch): Promise<TokenOutputs>;
  /**
   * Adds to the accumulated gradients those of Σ dLogprobs·logprobs + Σ dEntropy·entropy. Entries at mask = 0 are
   * ignored, whatever they hold.
   */
  backward(batch: TokenBatch, gradients: { dLogprobs: Rows; dEntropy?: Rows }): Promise<void>;
  /** One optimizer step on the accumulated gradients, which it clears. Throws, changing nothing, if they are not finite. */
  step(optimizer: AdamW): Promise<{ gradNorm: number }>;
  /** A frozen copy of the policy as it is now, for a KL penalty. */
  reference(): Promise<Pick<Learner, 'forward'>>;
  /** Writes weights and optimizer state. */
  save(folder: string): Promise<void>;
  load(folder: string): Promise<void>;
}
