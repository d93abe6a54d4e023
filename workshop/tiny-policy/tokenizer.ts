/** The tokenizers of the small policies: byte-level BPE with one token for each known word; other text becomes bytes. */

/** The chat template. It is short, because its tokens are computed in every episode. */
export const chatTemplate: string = [
  "{%- for message in messages -%}<|im_start|>{% if message.role == 'tool' %}tool<tool_response>{{ message.content }}</tool_response>",
  '{%- else %}{{ message.role }}{% if message.content %} {{ message.content }}{% endif %}{% endif -%}',
  '{%- for call in message.tool_calls or [] -%}<tool_call>{"name": "{{ call.function.name }}", "arguments": {{ call.function.arguments | tojson }}}</tool_call>{%- endfor -%}',
  '<|im_end|>{%- endfor -%}',
  '{%- if add_generation_prompt -%}<|im_start|>assistant{%- endif -%}',
].join('');

/** Texts that are always one token: turn marks and tags. */
const special = ['<|endoftext|>', '<|im_start|>', '<|im_end|>'];
const tags = ['<tool_call>', '</tool_call>', '<tool_response>', '</tool_response>', '<answer>', '</answer>'];
const roles = ['system', 'user', 'assistant', 'tool'];

export interface TokenizerDesign {
  /** Words and punctuation in byte-level form, with `Ġ` for a space before them: one token each. */
  pieces: readonly string[];
  /** Other texts that are always one token, such as the fixed parts of a call. */
  fixed: readonly string[];
  /**
   * Whether a word is the same token at the start of a line as elsewhere, which shortens the vocabulary and changes the text. If not, the
   * text is kept exactly, and numbers are written digit by digit.
   */
  joinsLines: boolean;
  chatTemplate: string;
}

/** The tiny policy's design: a search call is three tokens and its query. */
export function tinyDesign(words: readonly string[]): TokenizerDesign {
  return {
    pieces: words.map(byteLevel),
    fixed: ['{"name": "search", "arguments": {"query": "', '"}}'],
    joinsLines: true,
    chatTemplate,
  };
}

export interface TokenizerFiles {
  tokenizer: Record<string, unknown>;
  tokenizerConfig: Record<string, unknown>;
  vocabularySize: number;
  endOfTurn: number;
  padding: number;
}

/** Builds tokenizer.json and tokenizer_config.json. */
export function buildTokenizer({ pieces, fixed, joinsLines, chatTemplate }: TokenizerDesign): TokenizerFiles {
  const bytes = [...byteCharacters().values()];
  const digits = joinsLines ? [] : [...'0123456789'];
  const own = [
    ...roles.map(joinsLines ? byteLevel : String),
    ...digits.map((digit) => `Ġ${digit}`),
    ...pieces,
  ];
  const others = [...new Set(own)].filter((piece) => !bytes.includes(piece));
  const vocab = Object.fromEntries([...bytes, ...others].map((piece, id) => [piece, id]));
  const first = bytes.length + others.length;
  const addedTokens = [...special, ...tags, ...fixed].map((content, index) => ({
    id: first + index,
    content,
    single_word: false,
    lstrip: false,
    rstrip: false,
    normalized: false,
    special: special.includes(content),
  }));
  const idOf = (content: string) => addedTokens.find((token) => token.content === content)!.id;
  const tokenizer = {
    version: '1.0',
    truncation: null,
    padding: null,
    added_tokens: addedTokens,
    normalizer: joinsLines ? { type: 'Replace', pattern: { String: '\n' }, content: '\n ' } : null,
    pre_tokenizer: { type: 'ByteLevel', add_prefix_space: joinsLines, trim_offsets: true, use_regex: true },
    post_processor: null,
    decoder: { type: 'ByteLevel', add_prefix_space: joinsLines, trim_offsets: true, use_regex: true },
    model: {
      type: 'BPE',
      dropout: null,
      unk_token: null,
      continuing_subword_prefix: null,
      end_of_word_suffix: null,
      fuse_unk: false,
      byte_fallback: false,
      ignore_merges: true,
      vocab,
      merges: digits.map((digit) => `Ġ ${digit}`),
    },
  };
  const tokenizerConfig = {
    tokenizer_class: 'PreTrainedTokenizerFast',
    clean_up_tokenization_spaces: false,
    eos_token: '<|im_end|>',
    pad_token: '<|endoftext|>',
    // A policy whose template shows no tools knows its tools without being told.
    ...(!chatTemplate.includes('tools') && { tool_prompt: false }),
    chat_template: chatTemplate,
  };
  return {
    tokenizer,
    tokenizerConfig,
    vocabularySize: first + addedTokens.length,
    endOfTurn: idOf('<|im_end|>'),
    padding: idOf('<|endoftext|>'),
  };
}

/** A word as in running text: after a space, unless it is punctuation. */
function byteLevel(word: string): string {
  return /^[\p{L}\p{N}]/u.test(word) ? `Ġ${word}` : word;
}

/** A text in byte-level form: GPT-2's printable character for each byte. */
export function toByteLevel(text: string): string {
  const characters = byteCharacters();
  return [...Buffer.from(text)].map((byte) => characters.get(byte)).join('');
}

/** GPT-2's printable character for each byte. */
function byteCharacters(): Map<number, string> {
  const characters = new Map<number, string>();
  let next = 256;
  for (let byte = 0; byte < 256; byte++) {
    const printable = (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174;
    characters.set(byte, String.fromCharCode(printable ? byte : next++));
  }
  return characters;
}
