/** Architecture: the traits of a model that the decoder asks for. */

/** What a model does differently from others. */
export interface Architecture {
  /** The linear maps with biases, by the last part of their names. */
  biased: readonly string[];
  /** Whether one matrix projects queries, keys and values, and one projects gates and inputs of the MLP. */
  fused: boolean;
  /** Whether queries and keys are normalised: each head by itself, or all heads together. */
  queryKeyNorm?: 'each' | 'together';
  /** Whether attention's output is multiplied by the sigmoid of a gate, which the projection of the queries gives too. */
  gated: boolean;
  /** The names of parameters that are not the same everywhere. */
  names: Names;
  /** The names of a layer's norms. */
  norms: { beforeAttention?: string; afterAttention?: string; beforeMlp?: string; afterMlp?: string };
  /** Whether norms subtract the mean first, as LayerNorm does (arXiv 1607.06450). */
  centred: boolean;
  /** What norms add to their weights. */
  normOffset: 0 | 1;
  /** Whether the MLP reads what attention reads, and not what attention adds to it. */
  parallel: boolean;
  /** Which values of a head a rotary position turns together: those half a head apart, or neighbours. */
  rotaryPairs: 'halves' | 'neighbours';
  /** The gate's activation, and the field of config.json that names it. */
  activation: { name: 'silu' | 'gelu_pytorch_tanh'; field: string };
  /** Factors of the embeddings, of attention's scores beside 1/√(head width), of what a layer adds, and of the logits. */
  factors: { embeddings: number; scores: number; additions: number; logits: number };
  /** What some layers have in the place of attention. */
  convolution?: Convolution;
  deltaNet?: DeltaNet;
  /** The experts that have the place of the MLP in some layers. */
  experts?: Experts;
  /** How many positions the windowed layers attend to, their own included. Absent if no layer is windowed. */
  window?: number;
  layer(index: number): LayerKind;
}

/** Within their parts, except that of the last norm. */
export interface Names {
  queryNorm: string;
  keyNorm: string;
  attentionOutput: string;
  /** The part that is the MLP, and its linear maps. */
  mlp: string;
  gate: string;
  up: string;
  down: string;
  lastNorm: string;
}

/** A gated convolution over the last few positions, each channel by itself (arXiv 2511.23404). */
export interface Convolution {
  taps: number;
  biased: boolean;
}

/** A gated delta net (arXiv 2412.06464). Neighbouring heads of values share keys. */
export interface DeltaNet {
  keyHeads: number;
  valueHeads: number;
  keyWidth: number;
  valueWidth: number;
  /** How many positions the convolution before it sees. */
  taps: number;
}

/** MLPs, of which a router chooses some for each token (arXiv 1701.06538). */
export interface Experts {
  count: number;
  /** How many a token goes through. */
  chosen: number;
  /** The width of each. */
  width: number;
  /** Whether the shares of the chosen experts sum to 1. They are probabilities among all experts otherwise. */
  normalised: boolean;
}

/** What the layers of a model may differ in. */
export interface LayerKind {
  windowed: boolean;
  /** How tokens see those before them. Default: by attention. */
  mixer?: 'convolution' | 'deltaNet';
  /** Whether experts have the place of the MLP. */
  mixture?: boolean;
  /** The name of the tables of rotary positions. Absent for a layer that knows no positions. */
  rotary?: 'rotary' | 'rotary.local';
}
