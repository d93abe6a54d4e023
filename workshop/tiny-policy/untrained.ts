/** The untrained policy: a small Qwen2 with random weights, and a tokenizer of whole words. */
import { createRng, openEnv } from '@toolenv/core';
import { wordsOf, worldVocabulary } from '@toolenv/envs-qa';
import { initialWeights, type ModelConfig, parameterCount, writeCheckpoint } from '@toolenv/policy';
import { buildTokenizer, type TokenizerDesign, type TokenizerFiles, tinyDesign } from './tokenizer.ts';

export interface UntrainedOptions {
  seed: number;
  /** What is different from the tiny policy's 900 thousand parameters. */
  shape?: Partial<ModelConfig>;
  /** Default: that of the tiny policy. */
  design?: TokenizerDesign;
}

/** Writes a Hugging Face folder. */
export async function writeUntrained(
  folder: string,
  { seed, shape = {}, design }: UntrainedOptions,
): Promise<void> {
  const tokenizer = buildTokenizer(design ?? tinyDesign([...worldVocabulary(), ...(await fixedWords(seed))]));
  const config: ModelConfig & Record<string, unknown> = {
    architectures: ['Qwen2ForCausalLM'],
    model_type: 'qwen2',
    torch_dtype: 'float32',
    vocab_size: tokenizer.vocabularySize,
    hidden_size: 128,
    intermediate_size: 384,
    num_hidden_layers: 4,
    num_attention_heads: 4,
    num_key_value_heads: 2,
    hidden_act: 'silu',
    max_position_embeddings: 1024,
    rms_norm_eps: 1e-6,
    rope_theta: 10_000,
    tie_word_embeddings: true,
    use_sliding_window: false,
    eos_token_id: tokenizer.endOfTurn,
    pad_token_id: tokenizer.padding,
    ...shape,
  };
  const files = {
    'config.json': JSON.stringify(config, null, 2),
    'tokenizer.json': JSON.stringify(tokenizer.tokenizer, null, 1),
    'tokenizer_config.json': JSON.stringify(tokenizer.tokenizerConfig, null, 2),
  };
  const weights = initialWeights(config, seed);
  if (design) joinForms(weights['model.embed_tokens.weight']!.data as Float32Array, tokenizer, config, seed);
  await writeCheckpoint(folder, { files, weights });
  console.log(`${folder}: ${parameterCount(config)} parameters, ${tokenizer.vocabularySize} tokens`);
}

/** The words of the environment's own messages. */
async function fixedWords(seed: number): Promise<string[]> {
  await using env = await openEnv('@toolenv/envs-qa/bridge-v1', {}, { seed });
  const { messages } = await env.episode().reset({ task: await env.tasks.train.get(0), seed });
  return messages.flatMap(({ content }) => wordsOf(content));
}

/**
 * Makes the embeddings of a word with and without a space before it equal but for a vector that all words share, so that copying a word
 * into another place is learned for all words at once.
 */
function joinForms(
  embeddings: Float32Array,
  { tokenizer }: TokenizerFiles,
  { hidden_size: width }: ModelConfig,
  seed: number,
): void {
  const vocab = new Map(Object.entries((tokenizer.model as { vocab: Record<string, number> }).vocab));
  const rng = createRng(seed, 'without space');
  const shift = Float32Array.from({ length: width }, () => 0.04 * (rng.float() - 0.5));
  for (const [piece, id] of vocab) {
    const spaced = vocab.get(`Ġ${piece}`);
    if (spaced === undefined) continue;
    for (let i = 0; i < width; i++) embeddings[id * width + i] = embeddings[spaced * width + i]! + shift[i]!;
  }
}
