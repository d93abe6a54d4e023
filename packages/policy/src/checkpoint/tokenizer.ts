/** tokenizer.json: checks it against the supported kinds and the model's vocabulary, and opens the tokenizer. */
import { join } from 'node:path';
import { Tokenizer } from '@huggingface/tokenizers';
import { messageOf, ToolEnvError } from '@toolenv/core';
import { checkFields } from '../model/check-fields.ts';
import { boundSteps } from './bounded-steps.ts';
import { inOneLine } from './in-one-line.ts';
import { gpt2 } from './linear-patterns.ts';
import { rememberWords } from './remember-words.ts';

const modelKinds = ['BPE', 'WordPiece', 'Unigram'];

/** Characters of a token. Known tokens have up to 256, mostly spaces. */
const maxTokenLength = 4096;
/** Characters of a Unigram token. Segmenting takes memory and time for each length. SentencePiece writes up to 16. */
const maxUnigramLength = 128;
/** Characters that a step adds at a place. */
const maxAdditionLength = 64;

const id = { type: 'integer', minimum: 0 };
const addition = { type: ['string', 'null'], maxLength: maxAdditionLength };
const part = { $ref: '#/$defs/part' };
const decoder = { $ref: '#/$defs/decoder' };
/** Decoding has no deadline, so that a decoder may have no regular expressions. */
const literal = { String: { type: 'string', minLength: 1 } };

/** A step of normalizing, splitting or decoding, which may have steps inside. */
function partWith(pattern: Record<string, object>): object {
  return {
    type: ['object', 'null'],
    properties: {
      type: { type: 'string' },
      // The library prints a warning for other patterns, and goes on without them.
      pattern: { type: 'object', properties: pattern, minProperties: 1, additionalProperties: false },
      content: addition,
      prepend: addition,
      replacement: addition,
      str_rep: addition,
      suffix: addition,
      length: { type: 'integer', minimum: 1 },
      normalizers: { type: 'array', items: part },
      pretokenizers: { type: 'array', items: part },
      decoders: { type: 'array', items: decoder },
    },
    required: ['type'],
    if: { properties: { type: { enum: ['Split', 'Replace'] } } },
    // biome-ignore lint/suspicious/noThenProperty: JSON Schema's keyword.
    then: { required: ['pattern'] },
  };
}

/** The parts of tokenizer.json that are read here or that the library trusts. */
const schema = {
  type: 'object',
  properties: {
    model: {
      type: 'object',
      properties: {
        vocab: {
          type: ['object', 'array'],
          additionalProperties: id,
          propertyNames: { maxLength: maxTokenLength },
          items: {
            type: 'array',
            prefixItems: [{ type: 'string', maxLength: maxUnigramLength }, { type: 'number' }],
            minItems: 2,
          },
        },
        merges: {
          type: 'array',
          items: {
            type: ['string', 'array'],
            maxLength: 2 * maxTokenLength,
            items: { type: 'string', maxLength: maxTokenLength },
            minItems: 2,
            maxItems: 2,
          },
        },
        // Splitting a word takes cubic time.
        max_input_chars_per_word: { type: 'integer', maximum: 256 },
        continuing_subword_prefix: addition,
        continuing_subword_suffix: addition,
        end_of_word_suffix: addition,
      },
      required: ['vocab'],
    },
    normalizer: part,
    pre_tokenizer: part,
    decoder,
    added_tokens: {
      type: ['array', 'null'],
      items: {
        type: 'object',
        properties: { id, content: { type: 'string', maxLength: maxTokenLength } },
        required: ['id', 'content'],
      },
    },
  },
  $defs: {
    part: partWith({ Regex: { type: 'string' }, ...literal }),
    decoder: partWith(literal),
  },
};

/**
 * @throws ToolEnvError `usage.checkpoint_unsupported` if the kind of the tokenizer is not supported, or if it has
 * tokens without an embedding. There may be fewer tokens than embeddings, because checkpoints pad their embeddings.
 */
export function checkTokenizer(
  folder: string,
  tokenizer: Record<string, unknown>,
  vocabularySize: number,
): void {
  const { type } = (tokenizer.model ?? {}) as { type?: unknown };
  if (!modelKinds.some((kind) => kind === type)) {
    const known = modelKinds.join(', ');
    const found = typeof type === 'string' ? JSON.stringify(type.slice(0, 40)) : `of type ${typeof type}`;
    throw unsupported(folder, `model.type ${found} is not supported; use a tokenizer of ${known}`);
  }
  checkFields(join(folder, 'tokenizer.json'), schema, tokenizer);
  let highest = -1;
  for (const id of idsOf((tokenizer.model as { vocab: object }).vocab)) highest = Math.max(highest, id);
  for (const { id } of addedTokens(tokenizer)) highest = Math.max(highest, id);
  if (highest >= vocabularySize) {
    throw unsupported(
      folder,
      `its token ids go up to ${highest}, config.json's vocab_size is ${vocabularySize}: use the tokenizer of this model`,
    );
  }
}

interface AddedToken {
  id: number;
  content: string;
  special?: boolean;
}

/** The tokens that tokenizer.json adds to the vocabulary, special ones among them. */
export function addedTokens(tokenizer: Record<string, unknown>): AddedToken[] {
  return (tokenizer.added_tokens ?? []) as AddedToken[];
}

/** The tokens of tokenizer.json by their ids, added tokens included. */
export function vocabularyOf(tokenizer: Record<string, unknown>): Map<number, string> {
  const { vocab } = tokenizer.model as { vocab: Record<string, number> | [token: string, score: number][] };
  const listed = Array.isArray(vocab)
    ? vocab.map(([token], id) => [id, token] as const)
    : Object.entries(vocab).map(([token, id]) => [id, token] as const);
  return new Map([...listed, ...addedTokens(tokenizer).map(({ id, content }) => [id, content] as const)]);
}

/** The text of a special token in tokenizer_config.json: a string, or an object with `content`. */
export function specialTokenText(token: unknown): string | undefined {
  const text =
    typeof token === 'string' ? token : (token as { content?: unknown } | null | undefined)?.content;
  return typeof text === 'string' ? text : undefined;
}

/** Opens the tokenizer, with changes where the library differs from transformers. */
export function openTokenizer(
  folder: string,
  tokenizer: Record<string, unknown>,
  config: Record<string, unknown>,
): Tokenizer {
  // Removing spaces before punctuation would change text that BPE decoded. transformers 5 never does so for BPE,
  // whatever the file says.
  const cleaned =
    (tokenizer.model as { type?: unknown })?.type !== 'BPE' && config.clean_up_tokenization_spaces;
  const refuse = (what: string) =>
    unsupported(folder, `${what}; use a tokenizer whose parts are all supported`);
  try {
    const opened = new Tokenizer(
      // A post-processor adds special tokens, which nobody asks for here. It could also repeat a text many times.
      { ...tokenizer, pre_tokenizer: asPatterns(tokenizer.pre_tokenizer), post_processor: null },
      { ...config, clean_up_tokenization_spaces: cleaned === true },
    );
    rememberWords(opened.pre_tokenizer);
    boundSteps(opened, refuse);
    // Some parts fail only when they are used.
    opened.decode(opened.encode('a 1.', { add_special_tokens: false }).ids);
    return opened;
  } catch (error) {
    throw ToolEnvError.isInstance(error) ? error : refuse(inOneLine(messageOf(error), 200));
  }
}

/**
 * Replaces the library's own splitters by patterns. In Hugging Face tokenizers, digits are the numerals of all
 * scripts and spaces are Unicode's. The library's splitters use JavaScript's \d and \s, but its patterns behave as
 * Hugging Face's do.
 */
function asPatterns(preTokenizer: unknown): unknown {
  const part = (preTokenizer ?? {}) as Record<string, unknown>;
  if (Array.isArray(part.pretokenizers))
    return { ...part, pretokenizers: part.pretokenizers.map(asPatterns) };
  if (part.type === 'Digits') return split(part.individual_digits ? '\\p{N}' : '\\p{N}+');
  if (part.type === 'ByteLevel' && part.use_regex !== false && part.add_prefix_space === false)
    return { type: 'Sequence', pretokenizers: [split(gpt2), { ...part, use_regex: false }] };
  return preTokenizer;
}

function split(pattern: string): object {
  return { type: 'Split', pattern: { Regex: pattern }, behavior: 'Isolated', invert: false };
}

/** The ids of a vocabulary. Unigram lists its tokens; the other kinds map tokens to ids. */
function idsOf(vocab: object): Iterable<number> {
  return Array.isArray(vocab) ? vocab.keys() : Object.values(vocab);
}

function unsupported(folder: string, what: string): ToolEnvError {
  return new ToolEnvError('usage.checkpoint_unsupported', `${join(folder, 'tokenizer.json')}: ${what}.`);
}
