/** The text part of a model that reads images too, such as Qwen3.5 or Gemma 3: only its text part is opened, and saved as a model of its own. */
import type { ModelType } from '../model/model-config.ts';

/** The classes of transformers by which others, such as vLLM, know the text models. */
const classes: Partial<Record<ModelType, string>> = {
  qwen3_5_text: 'Qwen3_5ForCausalLM',
  gemma3_text: 'Gemma3ForCausalLM',
  llama: 'LlamaForCausalLM',
  mistral: 'MistralForCausalLM',
  qwen2: 'Qwen2ForCausalLM',
  qwen3: 'Qwen3ForCausalLM',
  lfm2: 'Lfm2ForCausalLM',
};

/** What the whole model says of its text part. */
const shared = [
  'tie_word_embeddings',
  'eos_token_id',
  'bos_token_id',
  'pad_token_id',
  'dtype',
  'torch_dtype',
  'quantization_config',
];

/** The configuration of the text part of a parsed config.json, or the same configuration if it has no such part. */
export function textPartOf(given: Record<string, unknown>): Record<string, unknown> {
  const { text_config: text } = given;
  if (typeof text !== 'object' || text === null || Array.isArray(text)) return given;
  const own = text as Record<string, unknown>;
  const name = classes[own.model_type as ModelType];
  return {
    ...Object.fromEntries(shared.filter((field) => field in given).map((field) => [field, given[field]])),
    // A field that is null there says nothing.
    ...Object.fromEntries(
      Object.entries(own).filter(([field, value]) => value !== null || !(field in given)),
    ),
    ...(name && { architectures: [name] }),
  };
}

/** The names under which a model's tensors may be stored, most usual first. */
export function storedNames(name: string): string[] {
  const below = name.replace(/^model\./, '');
  return [
    name,
    // transformers' AutoModel saves no language-model head, and names without the prefix.
    below,
    // Within a model that reads images, by the names of newer and older versions of transformers.
    `model.language_model.${below}`,
    `model.text_model.${below}`,
    `language_model.${name}`,
  ];
}
