/** A complete checkpoint in memory. Its tokenizer has a few words and every byte. */
import { buildTokenizer, tinyDesign } from '../../../workshop/tiny-policy/tokenizer.ts';
import type { Checkpoint } from '../src/checkpoint/checkpoint.ts';
import type { ModelConfig } from '../src/model/model-config.ts';
import { randomWeights, tinyConfig } from './tiny-model.ts';

export function wordCheckpoint(overrides: Partial<ModelConfig> = {}): Checkpoint {
  const { tokenizer, tokenizerConfig, vocabularySize, endOfTurn } = buildTokenizer(
    tinyDesign(['where', 'is', 'the', 'river', '?', '.']),
  );
  const config = { ...tinyConfig, vocab_size: vocabularySize, max_position_embeddings: 160, ...overrides };
  const files = {
    'config.json': JSON.stringify({ ...config, eos_token_id: endOfTurn }),
    'tokenizer.json': JSON.stringify(tokenizer),
    'tokenizer_config.json': JSON.stringify(tokenizerConfig),
  };
  const weights = randomWeights(config, 1);
  return { folder: 'words', config, weights, tokenizer, tokenizerConfig, endTokens: [endOfTurn], files };
}
