/** The known architectures: what each of them does differently from Llama. */
import type { Architecture, LayerKind } from './architecture.ts';
import { headWidth, type ModelConfig, type ModelType } from './model-config.ts';

interface Entry {
  /** Fields that the type's config.json has under other names, or computes. */
  fields?(given: Record<string, unknown>): Record<string, unknown>;
  /** The kinds in `layer_types` beside attention with a window and without. */
  layerTypes?: readonly string[];
  /** Whether `partial_rotary_factor` says how much of a head is turned. transformers ignores it elsewhere. */
  turnsPartly?: boolean;
  /** What transformers takes for fields that config.json leaves out. */
  defaults?: Partial<ModelConfig>;
  /** The field of config.json that has the epsilon of the norms. Default: `rms_norm_eps`. */
  epsilonField?: string;
  differences(config: ModelConfig): Partial<Architecture>;
}

const llama: Architecture = {
  biased: [],
  fused: false,
  gated: false,
  names: {
    queryNorm: 'q_norm',
    keyNorm: 'k_norm',
    attentionOutput: 'o_proj',
    mlp: 'mlp',
    gate: 'gate_proj',
    up: 'up_proj',
    down: 'down_proj',
    lastNorm: 'model.norm',
  },
  norms: { beforeAttention: 'input_layernorm', beforeMlp: 'post_attention_layernorm' },
  centred: false,
  normOffset: 0,
  parallel: false,
  rotaryPairs: 'halves',
  activation: { name: 'silu', field: 'hidden_act' },
  factors: { embeddings: 1, scores: 1, additions: 1, logits: 1 },
  layer: () => ({ windowed: false, rotary: 'rotary' }),
};

const entries: Record<ModelType, Entry> = {
  // arXiv 2302.13971
  llama: { differences: (config) => ({ biased: [...attentionBiases(config), ...mlpBiases(config)] }) },

  // arXiv 2310.06825
  mistral: {
    defaults: { sliding_window: 4096 },
    differences: (config) => withWindows(config, () => true),
  },

  // arXiv 2407.10671
  qwen2: {
    defaults: { sliding_window: 4096, max_window_layers: 28 },
    differences: (config) => ({ biased: ['q_proj', 'k_proj', 'v_proj'], ...withUpperWindows(config) }),
  },

  // arXiv 2505.09388
  qwen3: {
    defaults: { sliding_window: 4096, max_window_layers: 28 },
    differences: (config) => ({
      biased: attentionBiases(config),
      queryKeyNorm: 'each',
      ...withUpperWindows(config),
    }),
  },

  // arXiv 2505.09388
  qwen3_moe: {
    defaults: { sliding_window: 4096, decoder_sparse_step: 1 },
    differences: (config) => {
      const { decoder_sparse_step: step = 1, mlp_only_layers: dense } = config;
      const isMixture = (layer: number) => !dense?.includes(layer) && (layer + 1) % step === 0;
      return {
        biased: attentionBiases(config),
        queryKeyNorm: 'each',
        ...withExperts(
          config,
          config.moe_intermediate_size,
          withWindows(withOptionalWindow(config), () => true),
          isMixture,
        ),
      };
    },
  },

  // Its gated delta nets are those of arXiv 2412.06464.
  qwen3_5_text: {
    defaults: { head_dim: 256, partial_rotary_factor: 0.25, linear_conv_kernel_dim: 4 },
    turnsPartly: true,
    layerTypes: ['linear_attention'],
    differences: (config) => {
      const { full_attention_interval: interval = 4, layer_types: types } = config;
      const isDelta = (layer: number) =>
        types ? types[layer] === 'linear_attention' : (layer + 1) % interval !== 0;
      return {
        biased: attentionBiases(config),
        queryKeyNorm: 'each',
        gated: true,
        normOffset: 1,
        deltaNet: {
          keyHeads: config.linear_num_key_heads ?? 16,
          valueHeads: config.linear_num_value_heads ?? 32,
          keyWidth: config.linear_key_head_dim ?? 128,
          valueWidth: config.linear_value_head_dim ?? 128,
          taps: config.linear_conv_kernel_dim ?? 4,
        },
        layer: (index) => ({
          windowed: false,
          rotary: 'rotary',
          ...(isDelta(index) && { mixer: 'deltaNet' }),
        }),
      };
    },
  },

  // arXiv 2511.23404
  lfm2: {
    defaults: { tie_word_embeddings: true, rope_theta: 1_000_000, rms_norm_eps: 1e-5 },
    epsilonField: 'norm_eps',
    layerTypes: ['conv'],
    fields: lfm2Fields,
    differences: ({ full_attn_idxs: attending, layer_types: types, ...config }) => {
      const attends = (layer: number) =>
        types ? types[layer] === 'full_attention' : (attending?.includes(layer) ?? true);
      return {
        queryKeyNorm: 'each',
        names: {
          queryNorm: 'q_layernorm',
          keyNorm: 'k_layernorm',
          attentionOutput: 'out_proj',
          mlp: 'feed_forward',
          gate: 'w1',
          up: 'w3',
          down: 'w2',
          lastNorm: 'model.embedding_norm',
        },
        norms: { beforeAttention: 'operator_norm', beforeMlp: 'ffn_norm' },
        convolution: { taps: config.conv_L_cache ?? 3, biased: config.conv_bias ?? false },
        layer: (index) => ({
          windowed: false,
          rotary: 'rotary',
          ...(!attends(index) && { mixer: 'convolution' }),
        }),
      };
    },
  },

  // arXiv 2409.02060
  olmoe: {
    defaults: { rms_norm_eps: 1e-5 },
    differences: (config) => ({
      biased: attentionBiases(config),
      queryKeyNorm: 'together',
      ...withExperts(config, config.intermediate_size, { layer: llama.layer }),
    }),
  },

  // arXiv 2405.04324
  granite: {
    differences: (config) => ({
      biased: [...attentionBiases(config), ...mlpBiases(config)],
      factors: {
        embeddings: config.embedding_multiplier ?? 1,
        scores: (config.attention_multiplier ?? 1) * Math.sqrt(headWidth(config)),
        additions: config.residual_multiplier ?? 1,
        logits: 1 / (config.logits_scaling ?? 1),
      },
    }),
  },

  // Layers without positions are those of arXiv 2501.18795.
  smollm3: {
    defaults: { tie_word_embeddings: true, rope_theta: 2_000_000 },
    differences: (config) => {
      const { no_rope_layers: turned, no_rope_layer_interval: interval = 4 } = config;
      const isTurned = (layer: number) => (turned ? turned[layer] !== 0 : (layer + 1) % interval !== 0);
      return {
        biased: [...attentionBiases(config), ...mlpBiases(config)],
        ...withWindows(
          withOptionalWindow(config),
          (layer) => !isTurned(layer),
          (layer) => (isTurned(layer) ? 'rotary' : undefined),
        ),
      };
    },
  },

  // arXiv 2501.00656
  olmo2: {
    differences: (config) => ({
      biased: attentionBiases(config),
      queryKeyNorm: 'together',
      norms: { afterAttention: 'post_attention_layernorm', afterMlp: 'post_feedforward_layernorm' },
    }),
  },

  // arXiv 2512.13961
  olmo3: {
    defaults: { sliding_window: 4096, rms_norm_eps: 1e-5, rope_theta: 500_000 },
    differences: (config) => ({
      ...entries.olmo2.differences(config),
      ...withWindows(
        config,
        (layer) => (layer + 1) % 4 !== 0,
        (_layer, isWindowed) => (isWindowed ? 'rotary.local' : 'rotary'),
      ),
    }),
  },

  // arXiv 2507.11407
  exaone4: {
    defaults: { sliding_window: 4096, rms_norm_eps: 1e-5 },
    differences: (config) => {
      const { sliding_window: window, sliding_window_pattern: pattern = 4 } = config;
      return {
        queryKeyNorm: 'each',
        norms: { afterAttention: 'post_attention_layernorm', afterMlp: 'post_feedforward_layernorm' },
        ...withWindows(
          config,
          (layer) => (layer + 1) % pattern !== 0,
          (_layer, isWindowed) => (isWindowed || window === null ? 'rotary' : undefined),
        ),
      };
    },
  },

  // arXiv 2503.19786
  gemma3_text: {
    defaults: {
      tie_word_embeddings: true,
      head_dim: 256,
      query_pre_attn_scalar: 256,
      sliding_window: 4096,
      rope_theta: 1_000_000,
      rope_local_base_freq: 10_000,
    },
    differences: (config) => {
      const { query_pre_attn_scalar: scalar = headWidth(config), sliding_window_pattern: pattern = 6 } =
        config;
      const isLocal = (layer: number) => (layer + 1) % pattern !== 0;
      return {
        biased: attentionBiases(config),
        queryKeyNorm: 'each',
        norms: {
          beforeAttention: 'input_layernorm',
          afterAttention: 'post_attention_layernorm',
          beforeMlp: 'pre_feedforward_layernorm',
          afterMlp: 'post_feedforward_layernorm',
        },
        normOffset: 1,
        activation: { name: 'gelu_pytorch_tanh', field: 'hidden_activation' },
        factors: {
          ...llama.factors,
          embeddings: Math.sqrt(config.hidden_size),
          scores: Math.sqrt(headWidth(config) / scalar),
        },
        ...withWindows(config, isLocal, (_layer, isWindowed) => (isWindowed ? 'rotary.local' : 'rotary')),
      };
    },
  },

  // arXiv 2404.14219
  phi3: {
    turnsPartly: true,
    differences: (config) => ({ fused: true, ...withWindows(config, () => true) }),
  },

  // arXiv 2504.00698
  cohere2: {
    defaults: { tie_word_embeddings: true, sliding_window: 4096, rms_norm_eps: 1e-5 },
    epsilonField: 'layer_norm_eps',
    differences: (config) => {
      const { sliding_window_pattern: pattern = 4, logit_scale: logits = 0.0625 } = config;
      return {
        biased: attentionBiases(config),
        norms: { beforeAttention: 'input_layernorm' },
        centred: true,
        parallel: true,
        rotaryPairs: 'neighbours',
        factors: { ...llama.factors, logits },
        ...withWindows(
          config,
          (layer) => (layer + 1) % pattern !== 0,
          (_layer, isWindowed) => (isWindowed ? 'rotary' : undefined),
        ),
      };
    },
  },
};

export const modelTypes: readonly ModelType[] = Object.keys(entries) as ModelType[];

export function architectureOf(config: ModelConfig): Architecture {
  return { ...llama, ...entries[config.model_type].differences(config) };
}

/** The fields that a config.json may leave out, with the values that transformers takes for them. */
export function defaultsOf(type: ModelType): Partial<ModelConfig> {
  return entries[type].defaults ?? {};
}

/** Whether some layers keep a state in the place of keys and values. */
export function isRecurrent(config: ModelConfig): boolean {
  const { convolution, deltaNet } = architectureOf(config);
  return convolution !== undefined || deltaNet !== undefined;
}

/** Fields that the type's config.json has under other names, or computes. */
export function fieldsOf(type: ModelType, given: Record<string, unknown>): Record<string, unknown> {
  return entries[type].fields?.(given) ?? {};
}

/** The kinds that `layer_types` may have. */
export function layerTypesOf(type: ModelType): readonly string[] {
  return [slidingAttention, 'full_attention', ...(entries[type].layerTypes ?? [])];
}

/** Whether models of the type may turn a part of each head only. */
export function turnsPartly(type: ModelType): boolean {
  return entries[type].turnsPartly ?? false;
}

/** The field of config.json that has the epsilon of the norms. */
export function epsilonFieldOf(type: ModelType): string {
  return entries[type].epsilonField ?? 'rms_norm_eps';
}

/** The MLP has two thirds of the width that the file gives, times a factor, rounded up to a multiple. */
function lfm2Fields(given: Record<string, unknown>): Record<string, unknown> {
  const tied = given.tie_embedding ?? given.tie_word_embeddings;
  const width = given.block_ff_dim ?? given.intermediate_size;
  const {
    block_auto_adjust_ff_dim: adjusts = true,
    block_ffn_dim_multiplier: factor,
    block_multiple_of: multiple = 256,
  } = given;
  const scaled = Math.floor(Number(factor ?? 1) * Math.floor((2 * Number(width)) / 3));
  return {
    ...(tied !== undefined && { tie_word_embeddings: tied }),
    intermediate_size: adjusts ? Number(multiple) * Math.ceil(scaled / Number(multiple)) : width,
  };
}

function attentionBiases({ attention_bias: has }: ModelConfig): string[] {
  return has ? ['q_proj', 'k_proj', 'v_proj', 'o_proj'] : [];
}

function mlpBiases({ mlp_bias: has }: ModelConfig): string[] {
  return has ? ['gate_proj', 'up_proj', 'down_proj'] : [];
}

/** The window and the layers that have it: those of `layer_types`, or else those that `isWindowed` names. */
function withWindows(
  config: ModelConfig,
  isWindowed: (layer: number) => boolean,
  rotaryOf: (layer: number, isWindowed: boolean) => LayerKind['rotary'] = () => 'rotary',
): Pick<Architecture, 'window' | 'layer'> {
  const { sliding_window: window, layer_types: types, max_position_embeddings: context } = config;
  // A window as long as the context leaves nothing out.
  const slides = typeof window === 'number' && window < context;
  return {
    ...(slides && { window }),
    layer: (index) => {
      const named = types ? types[index] === slidingAttention : isWindowed(index);
      return { windowed: slides && named, rotary: rotaryOf(index, named) };
    },
  };
}

/** Experts in the layers that `isMixture` names, or in all. */
function withExperts(
  { num_experts: count, num_experts_per_tok: chosen, norm_topk_prob: normalised = false }: ModelConfig,
  width: number | undefined,
  { layer: kindOf, ...others }: Pick<Architecture, 'window' | 'layer'>,
  isMixture: (layer: number) => boolean = () => true,
): Pick<Architecture, 'experts' | 'window' | 'layer'> {
  return {
    ...others,
    // readModelConfig has checked that there are such numbers.
    experts: { count: count!, chosen: chosen!, width: width!, normalised },
    layer: (index) => ({ ...kindOf(index), mixture: isMixture(index) }),
  };
}

/** The name of windowed layers in `layer_types`; the others have `full_attention`. */
export const slidingAttention = 'sliding_attention';

/** The Qwens' windows, in the layers from `max_window_layers` on. */
function withUpperWindows(config: ModelConfig): Pick<Architecture, 'window' | 'layer'> {
  const { max_window_layers: first = 0 } = config;
  return withWindows(withOptionalWindow(config), (layer) => layer >= first);
}

/** Without `use_sliding_window`, `sliding_window` means nothing. */
function withOptionalWindow(config: ModelConfig): ModelConfig {
  return config.use_sliding_window ? config : { ...config, sliding_window: null };
}
