/** Rotary position embedding (arXiv 2104.09864): the angles of each position, with the scalings for longer contexts. */
import { type Tensors, tensor } from '../runtime/runtime.ts';
import { architectureOf } from './known-architectures.ts';
import { headWidth, type ModelConfig, turnedWidth } from './model-config.ts';
import type { RopeScaling } from './rope-scaling.ts';

/** Tokens of a tree of rows at most, if the context is shorter. */
const minTree = 4096;

/** Tokens of a tree of rows at most. */
export function longestTree({ max_position_embeddings: context }: ModelConfig): number {
  return Math.max(context, minTree);
}

/**
 * Rows of the tables. ONNX Runtime wants as many as a padded tree has tokens, though positions stay below the context. Padding adds less
 * than a 128th.
 */
export function tableLength(config: ModelConfig): number {
  return Math.ceil((longestTree(config) * 129) / 128);
}

/**
 * The tables `rotary.cos` and `rotary.sin` [{@link tableLength}, {@link turnedWidth} / 2] of position · frequency, and `rotary.local.cos`
 * and `rotary.local.sin` if some layers have frequencies of their own.
 */
export function rotaryTables(config: ModelConfig): Tensors {
  const { rope_theta: theta, rope_local_base_freq: local = theta, num_hidden_layers: layers } = config;
  const { layer: kindOf } = architectureOf(config);
  const tables = tablesOf(config, 'rotary');
  if (![...Array(layers).keys()].some((layer) => kindOf(layer).rotary === 'rotary.local')) return tables;
  return {
    ...tables,
    ...tablesOf({ ...config, rope_theta: local, rope_scaling: undefined }, 'rotary.local'),
  };
}

function tablesOf(config: ModelConfig, name: string): Tensors {
  const frequencies = scaledFrequencies(config);
  const amplitude = attentionFactor(config);
  const dims = [tableLength(config), frequencies.length] as const;
  const cos = new Float32Array(dims[0] * dims[1]);
  const sin = new Float32Array(dims[0] * dims[1]);
  for (let position = 0; position < dims[0]; position++) {
    for (const [i, frequency] of frequencies.entries()) {
      // Hugging Face computes the angle in float32.
      const angle = Math.fround(position * frequency);
      cos[position * dims[1] + i] = Math.cos(angle) * amplitude;
      sin[position * dims[1] + i] = Math.sin(angle) * amplitude;
    }
  }
  return { [`${name}.cos`]: tensor(cos, dims), [`${name}.sin`]: tensor(sin, dims) };
}

/** Radians per position, [width / 2] in float32: theta^(−2i / width), scaled for longer contexts. */
function scaledFrequencies(config: ModelConfig): Float32Array {
  const half = turnedWidth(config) / 2;
  const { rope_theta: theta, rope_scaling: scaling } = config;
  const frequencies = Float32Array.from({ length: half }, (_, i) => 1 / Math.fround(theta ** (i / half)));
  if (scaling?.rope_type === 'linear') return frequencies.map((frequency) => frequency / scaling.factor);
  if (scaling?.rope_type === 'llama3')
    return frequencies.map((frequency) =>
      interpolate(frequency, scaling.factor, keptOfLlama3(frequency, scaling)),
    );
  if (scaling?.rope_type === 'yarn')
    return frequencies.map((frequency, i) =>
      interpolate(frequency, scaling.factor, keptOfYarn(i, config, scaling)),
    );
  if (scaling?.rope_type === 'longrope')
    return frequencies.map((frequency, i) => frequency / scaling.short_factor[i]!);
  return frequencies;
}

/** Mixes the frequency (`kept` 1) and the frequency divided by `factor` (`kept` 0). */
function interpolate(frequency: number, factor: number, kept: number): number {
  return kept * frequency + ((1 - kept) * frequency) / factor;
}

/** Llama 3.1 keeps frequencies that make many turns within the original context and interpolates those that make few. */
function keptOfLlama3(frequency: number, scaling: RopeScaling & { rope_type: 'llama3' }): number {
  const { low_freq_factor: low, high_freq_factor: high, original_max_position_embeddings: context } = scaling;
  const turns = (context * frequency) / (2 * Math.PI);
  return clamp((turns - low) / (high - low));
}

/** YaRN (arXiv 2309.00071): a ramp between the pairs that turn beta_fast and beta_slow times in the original context. */
function keptOfYarn(pair: number, config: ModelConfig, scaling: RopeScaling & { rope_type: 'yarn' }): number {
  const width = headWidth(config);
  const {
    beta_fast: fast = 32,
    beta_slow: slow = 1,
    truncate = true,
    original_max_position_embeddings: context = config.max_position_embeddings,
  } = scaling;
  const pairThatTurns = (times: number) =>
    (width * Math.log(context / (times * 2 * Math.PI))) / (2 * Math.log(config.rope_theta));
  const first = truncate ? Math.floor(pairThatTurns(fast)) : pairThatTurns(fast);
  const last = truncate ? Math.ceil(pairThatTurns(slow)) : pairThatTurns(slow);
  const [start, end] = [Math.max(first, 0), Math.min(last, width - 1)];
  return 1 - clamp((pair - start) / (end === start ? 0.001 : end - start));
}

/** The factor by which YaRN and LongRoPE scale cos and sin, which makes attention sharper. */
function attentionFactor({ rope_scaling: scaling }: ModelConfig): number {
  if (scaling?.rope_type === 'longrope') return scaling.attention_factor;
  if (scaling?.rope_type !== 'yarn') return 1;
  return scaling.attention_factor ?? (scaling.factor <= 1 ? 1 : 0.1 * Math.log(scaling.factor) + 1);
}

function clamp(value: number): number {
  return Math.min(1, Math.max(0, value));
}
