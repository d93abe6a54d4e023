/**
 * A policy that has learned nothing: random weights, and one token for each text of tic-tac-toe, or for each of the characters that you give.
 *
 *     npm run example untrained-policy.ts my-policy 1     # folder, seed, characters
 */
import { initialWeights, type ModelConfig, parameterCount, writeCheckpoint } from '@toolenv/policy';

const [folder = 'my-policy', seed = '1', typed = '123456789XO'] = process.argv.slice(2);

/** Single characters are the tokens of the model; longer texts, and marks that are never typed, are added to them. */
const characters = [...new Set(typed)];
const added = ['\n', ' to move.', '<|end|>', '<|answer|>'];
const vocab = Object.fromEntries(characters.map((character, id) => [character, id]));
const idOf = (text: string) => characters.length + added.indexOf(text);

const tokenizer = {
  added_tokens: added.map((content) => ({ id: idOf(content), content, special: content.startsWith('<') })),
  // Cells stand between spaces, which say nothing.
  normalizer: { type: 'Replace', pattern: { String: ' ' }, content: '' },
  pre_tokenizer: { type: 'Split', pattern: { Regex: '.' }, behavior: 'Isolated', invert: false },
  model: { type: 'BPE', vocab, merges: [] },
  decoder: { type: 'Fuse' },
};

/** The prompt is the newest board, without the boards before it: they say no more. */
const template = [
  "{% set shown = messages[-2:] if messages[-1].role == 'assistant' else messages[-1:] %}",
  "{% for message in shown %}{{ '<|answer|>' if message.role == 'assistant' }}{{ message.content }}<|end|>{% endfor %}",
  '{% if add_generation_prompt %}<|answer|>{% endif %}',
].join('');

const config: ModelConfig & Record<string, unknown> = {
  architectures: ['Qwen2ForCausalLM'],
  model_type: 'qwen2',
  torch_dtype: 'float32',
  vocab_size: characters.length + added.length,
  hidden_size: 64,
  intermediate_size: 256,
  num_hidden_layers: 2,
  num_attention_heads: 4,
  num_key_value_heads: 4,
  hidden_act: 'silu',
  max_position_embeddings: 128,
  rms_norm_eps: 1e-6,
  rope_theta: 10_000,
  tie_word_embeddings: false,
  use_sliding_window: false,
  eos_token_id: idOf('<|end|>'),
  pad_token_id: idOf('<|end|>'),
};

const files = {
  'config.json': JSON.stringify(config, null, 2),
  'tokenizer.json': JSON.stringify({ version: '1.0', ...tokenizer }, null, 2),
  'tokenizer_config.json': JSON.stringify({
    tokenizer_class: 'PreTrainedTokenizerFast',
    eos_token: '<|end|>',
    chat_template: template,
  }),
};
const weights = initialWeights(config, Number(seed));
writeCheckpoint(folder, { files, weights }).then(() => {
  console.log(`${folder}: ${parameterCount(config)} parameters, ${config.vocab_size} tokens`);
});
