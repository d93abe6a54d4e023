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
  /** The critic's estimate of the return from token t on, seen before token t, at mask = 1, else 0; absent without a critic. */
  values?: Rows;
}

/** Gradients of a loss by the outputs; all [B][T]. What they hold at mask = 0 is ignored. */
export interface TokenGradients {
  dLogprobs: Rows;
  dEntropy?: Rows;
  /** Needs a critic. */
  dValues?: Rows;
}

export interface CriticOptions {
  /**
   * `shared`: a value head on the policy's trunk, which then learns from both losses. `separate`: a model of its own, which
   * begins as a copy of the policy. Either way the values are 0 at first.
   */
  critic: 'shared' | 'separate';
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
  /** What differs for the critic's own parameters, whose gradient has a norm of its own. */
  critic?: { learningRate?: number; weightDecay?: number; maxGradNorm?: number };
  /** Leaves the policy and its optimizer state as they are, so that a critic can warm up. */
  criticOnly?: boolean;
}

export interface Learner {
  forward(batch: TokenBatch): Promise<TokenOutputs>;
  /**
   * Adds to the accumulated gradients those of Σ dLogprobs·logprobs + Σ dEntropy·entropy + Σ dValues·values. Entries at
   * mask = 0 are ignored, whatever they hold.
   */
  backward(batch: TokenBatch, gradients: TokenGradients): Promise<void>;
  /** One optimizer step on the accumulated gradients, which it clears. Throws, changing nothing, if they are not finite. */
  step(optimizer: AdamW): Promise<{ gradNorm: number; criticGradNorm?: number }>;
  /**
   * From now on `forward` gives values, `backward` takes their gradients, and `save` and `load` include the critic. It takes
   * the place of one that was there. A learner without this method can have none.
   */
  addCritic?(options: CriticOptions): Promise<void>;
  /** A frozen copy of the policy as it is now, for a KL penalty. */
  reference(): Promise<Pick<Learner, 'forward'>>;
  /** Writes weights and optimizer state. */
  save(folder: string): Promise<void>;
  load(folder: string): Promise<void>;
}
