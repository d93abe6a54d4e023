/** Estimates the memory that training a model needs, before it begins. */
import type { MemoryEstimate } from '@toolenv/core/plugins';
import { stateShapes } from '../model/cached-states.ts';
import { usedWidth } from '../model/experts.ts';
import { architectureOf } from '../model/known-architectures.ts';
import { parameterCount, totalSize } from '../model/model.ts';
import { headWidth, type ModelConfig } from '../model/model-config.ts';
import { parameterShapes } from '../model/parameter-shapes.ts';
import type { Shapes } from '../runtime/shape.ts';
import { cachedParts } from '../sampler/cached-past.ts';
import { maxLogits, maxQueries } from './padded-batch.ts';

const float = 4;
/** Bytes of a compiled program, whatever the batch. */
const programBytes = 40 * 2 ** 20;
/** Bytes of activations that a default token budget always allows. */
const minActivations = 1.5 * 2 ** 30;

export interface TrainingOptions {
  tokenBudget?: number;
  /** Tokens of a row or tree. Attention's memory grows with it. Default: as many as the budget and the model's context allow. */
  rowLength?: number;
  gradientCheckpointing?: boolean;
  /** The trained parameters, such as an adapter's. Default: all. */
  trained?: Shapes;
}

export function trainingMemory(config: ModelConfig, options: TrainingOptions = {}): MemoryEstimate {
  const shapes = parameterShapes(config);
  const { gradientCheckpointing = false, trained = shapes } = options;
  const { tokenBudget = defaultTokenBudget(config, options) } = options;
  const { rowLength = maxRowLength(config, tokenBudget) } = options;
  const modelBytes = float * totalSize(shapes);
  const trainedBytes = float * totalSize(trained);
  // A step has a copy of the weights. With an adapter, the layers' matrices exist with and without it.
  const copied = [...shapes].filter(
    ([name]) => trainedBytes === modelBytes || name.startsWith('model.layers.'),
  );
  const parts = {
    weights: modelBytes + float * totalSize(new Map(copied)),
    gradients: 2 * trainedBytes,
    optimizer: 2 * trainedBytes,
    activations: activationBytes(config, { tokens: tokenBudget, rowLength, gradientCheckpointing }),
  };
  const total = Object.values(parts).reduce((sum, bytes) => sum + bytes, 0);
  const keyValueWidth = headWidth(config) * config.num_key_value_heads;
  return { ...parts, total, cachePerToken: float * cachedParts(config).length * keyValueWidth };
}

/**
 * The default number of padded tokens in a batch, at most 4096. Each batch has a fixed cost for the gradients of all trained
 * weights, so larger batches are faster. Activations, even of rows as long as the batch, may take as much memory as weights, gradients
 * and moments together, or 1.5 GiB if that is more.
 */
export function defaultTokenBudget(
  config: ModelConfig,
  {
    gradientCheckpointing = false,
    trained = parameterShapes(config),
  }: Pick<TrainingOptions, 'gradientCheckpointing' | 'trained'> = {},
): number {
  const most = Math.max(minActivations, float * (parameterCount(config) + 4 * totalSize(trained)));
  const fits = (tokens: number) =>
    activationBytes(config, { tokens, rowLength: maxRowLength(config, tokens), gradientCheckpointing }) <=
    most;
  let [budget, tooMany] = [1, 4097];
  while (tooMany - budget > 1) {
    const middle = Math.floor((budget + tooMany) / 2);
    if (fits(middle)) budget = middle;
    else tooMany = middle;
  }
  return budget;
}

function maxRowLength({ max_position_embeddings: context }: ModelConfig, tokens: number): number {
  return Math.min(context, tokens);
}

/** Numbers that a layer with a state keeps for each token, as measured. */
function stateWidth(config: ModelConfig, layer: number): number {
  const [, width = 0] = stateShapes(config, layer).inputs ?? [];
  return (architectureOf(config).layer(layer).mixer === 'deltaNet' ? 17 : 24) * width;
}

/**
 * Bytes of activations, forward and backward. The factors were fitted to the measured peaks of processes with models of 1, 15, 100 and
 * 500 million parameters, at rows of 192 to 4,096 tokens.
 */
function activationBytes(
  config: ModelConfig,
  {
    tokens,
    rowLength,
    gradientCheckpointing,
  }: { tokens: number; rowLength: number; gradientCheckpointing: boolean },
): number {
  const {
    num_hidden_layers: layers,
    hidden_size: width,
    num_attention_heads: heads,
    vocab_size: vocabulary,
  } = config;
  const layer = 9 * width + 4 * usedWidth(config);
  const states = [...Array(layers).keys()].map((index) => stateWidth(config, index));
  // With checkpointing: a layer that is computed again, its gradients, and the inputs of all layers.
  const trunk = gradientCheckpointing
    ? 1.5 * layer + Math.max(...states) + layers * width
    : layers * layer + states.reduce((sum, each) => sum + each);
  const logits = 4 * Math.min(tokens * vocabulary, maxLogits);
  // The scores of one block of queries, and the masks of all blocks.
  const recalled = 7 * (architectureOf(config).deltaNet?.valueHeads ?? 0) * rowLength;
  const attention = 3 * heads * Math.min(rowLength / 4, maxQueries) + 5 * rowLength + recalled;
  return programBytes + float * (tokens * (trunk + attention) + logits);
}
