/** The parameters of a model: names as in Hugging Face checkpoints, with their shapes. */
import type { Architecture, Convolution, DeltaNet } from './architecture.ts';
import { architectureOf } from './known-architectures.ts';
import { headWidth, type ModelConfig } from './model-config.ts';

/** Notes the parameters of a part of the model. */
interface ShapeNotes {
  /** A linear map. Default: with a bias if the architecture has one there. */
  linear(name: string, to: number, from: number, isBiased?: boolean): void;
  other(name: string, shape: readonly number[]): void;
}

export function parameterShapes(config: ModelConfig): Map<string, readonly number[]> {
  const { hidden_size: width, vocab_size: vocabulary } = config;
  const traits = architectureOf(config);
  const { norms, convolution, deltaNet } = traits;
  const shapes = new Map<string, readonly number[]>([['model.embed_tokens.weight', [vocabulary, width]]]);
  for (let layer = 0; layer < config.num_hidden_layers; layer++) {
    const notes: ShapeNotes = {
      linear(name, to, from, isBiased = traits.biased.includes(name.split('.').at(-1)!)) {
        this.other(`${name}.weight`, [to, from]);
        if (isBiased) this.other(`${name}.bias`, [to]);
      },
      other: (name, shape) => shapes.set(`model.layers.${layer}.${name}`, shape),
    };
    const addNorm = (name: string | undefined) => {
      if (name !== undefined) notes.other(`${name}.weight`, [width]);
    };
    const { mixer, mixture = false } = traits.layer(layer);
    addNorm(norms.beforeAttention);
    if (mixer === 'convolution') convolutionShapes(width, convolution!, notes);
    else if (mixer === 'deltaNet') deltaNetShapes(width, deltaNet!, notes);
    else attentionShapes(config, traits, notes);
    addNorm(norms.afterAttention);
    addNorm(norms.beforeMlp);
    mlpShapes(config, traits, mixture, notes);
    addNorm(norms.afterMlp);
  }
  shapes.set(`${traits.names.lastNorm}.weight`, [width]);
  if (!config.tie_word_embeddings) shapes.set('lm_head.weight', [vocabulary, width]);
  return shapes;
}

function attentionShapes(
  config: ModelConfig,
  { fused, gated, queryKeyNorm, names }: Architecture,
  notes: ShapeNotes,
): void {
  const { hidden_size: width } = config;
  const size = headWidth(config);
  const queryWidth = size * config.num_attention_heads;
  const keyValueWidth = size * config.num_key_value_heads;
  if (fused) notes.linear('self_attn.qkv_proj', queryWidth + 2 * keyValueWidth, width);
  else {
    notes.linear('self_attn.q_proj', gated ? 2 * queryWidth : queryWidth, width);
    notes.linear('self_attn.k_proj', keyValueWidth, width);
    notes.linear('self_attn.v_proj', keyValueWidth, width);
  }
  if (queryKeyNorm) {
    const together = queryKeyNorm === 'together';
    notes.other(`self_attn.${names.queryNorm}.weight`, [together ? queryWidth : size]);
    notes.other(`self_attn.${names.keyNorm}.weight`, [together ? keyValueWidth : size]);
  }
  notes.linear(`self_attn.${names.attentionOutput}`, width, queryWidth);
}

function convolutionShapes(width: number, { taps, biased }: Convolution, notes: ShapeNotes): void {
  notes.other('conv.conv.weight', [width, 1, taps]);
  if (biased) notes.other('conv.conv.bias', [width]);
  notes.linear('conv.in_proj', 3 * width, width, biased);
  notes.linear('conv.out_proj', width, width, biased);
}

function deltaNetShapes(
  width: number,
  { keyHeads, valueHeads, keyWidth, valueWidth, taps }: DeltaNet,
  notes: ShapeNotes,
): void {
  const [ofKeys, ofValues] = [keyHeads * keyWidth, valueHeads * valueWidth];
  notes.other('linear_attn.dt_bias', [valueHeads]);
  notes.other('linear_attn.A_log', [valueHeads]);
  notes.other('linear_attn.conv1d.weight', [2 * ofKeys + ofValues, 1, taps]);
  notes.other('linear_attn.norm.weight', [valueWidth]);
  notes.linear('linear_attn.out_proj', width, ofValues);
  notes.linear('linear_attn.in_proj_qkv', 2 * ofKeys + ofValues, width);
  notes.linear('linear_attn.in_proj_z', ofValues, width);
  notes.linear('linear_attn.in_proj_b', valueHeads, width);
  notes.linear('linear_attn.in_proj_a', valueHeads, width);
}

function mlpShapes(
  { hidden_size: width, intermediate_size: inner }: ModelConfig,
  { fused, names, experts }: Architecture,
  isMixture: boolean,
  notes: ShapeNotes,
): void {
  const add = (part: string, inner: number) => {
    if (fused) notes.linear(`${part}.gate_up_proj`, 2 * inner, width);
    else {
      notes.linear(`${part}.${names.gate}`, inner, width);
      notes.linear(`${part}.${names.up}`, inner, width);
    }
    notes.linear(`${part}.${names.down}`, width, inner);
  };
  if (!experts || !isMixture) add(names.mlp, inner);
  else {
    notes.linear(`${names.mlp}.gate`, experts.count, width);
    for (let expert = 0; expert < experts.count; expert++)
      add(`${names.mlp}.experts.${expert}`, experts.width);
  }
}
