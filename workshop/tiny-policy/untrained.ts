/** The untrained policy: a Qwen2 of 900 thousand parameters with random weights, and a tokenizer of whole words. */
import { openEnv } from '@toolenv/core';
import { wordsOf, worldVocabulary } from '@toolenv/envs-qa';
import { initialWeights, type ModelConfig, parameterCount, writeCheckpoint } from '@toolenv/policy';
import { buildTokenizer } from './tokenizer.ts';

/**
 * Writes a Hugging Face folder.
 * @param shape What is different from the tiny policy.
 */
export async function writeUntrained(
  folder: string,
  seed: number,
  shape: Partial<ModelConfig> = {},
): Promise<void> {
  const tokenizer = buildTokenizer([...worldVocabulary(), ...(await fixedWords(seed))]);
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
  await writeCheckpoint(folder, { files, weights: initialWeights(config, seed) });
  console.log(`${folder}: ${parameterCount(config)} parameters, ${tokenizer.vocabularySize} tokens`);
}

/** The words of the environment's own messages. */
async function fixedWords(seed: number): Promise<string[]> {
  const env = await openEnv('@toolenv/envs-qa/bridge-v1', {}, { seed });
  const { messages } = await env.episode().reset({ task: await env.tasks.train.get(0), seed });
  await env.close();
  return messages.flatMap(({ content }) => wordsOf(content));
}
