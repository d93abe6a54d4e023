/** tokenizer.json: whether it is of a kind that is known and of a model's vocabulary, and its tokenizer. */
import { join } from 'node:path';
import { Tokenizer } from '@huggingface/tokenizers';
import { messageOf, ToolEnvError } from '@toolenv/core';

const modelKinds = ['BPE', 'WordPiece', 'Unigram'];

/**
 * @throws ToolEnvError `usage.checkpoint_unsupported` if it has tokens that the model has no embedding for, or is of
 * another kind. Fewer tokens than embeddings are fine: checkpoints pad theirs.
 */
export function checkTokenizer(
  folder: string,
  tokenizer: Record<string, unknown>,
  vocabularySize: number,
): void {
  const { type, vocab } = (tokenizer.model ?? {}) as { type?: unknown; vocab?: object };
  if (!modelKinds.some((kind) => kind === type)) {
    const known = modelKinds.join(', ');
    throw unsupported(
      folder,
      `model.type ${JSON.stringify(type)} is not supported; use a tokenizer of ${known}`,
    );
  }
  let highest = -1;
  for (const id of idsOf(vocab ?? {})) highest = Math.max(highest, id);
  for (const { id } of (tokenizer.added_tokens ?? []) as { id: number }[]) highest = Math.max(highest, id);
  if (highest >= vocabularySize) {
    throw unsupported(
      folder,
      `its token ids go up to ${highest}, config.json's vocab_size is ${vocabularySize}: use the tokenizer of this model`,
    );
  }
}

/** The library's tokenizer, where needed told what transformers takes for granted. */
export function openTokenizer(
  folder: string,
  tokenizer: Record<string, unknown>,
  config: Record<string, unknown>,
): Tokenizer {
  // Removing spaces before punctuation changes what BPE wrote: transformers 5 does not, whatever the file says.
  const cleaned =
    (tokenizer.model as { type?: unknown })?.type !== 'BPE' && config.clean_up_tokenization_spaces;
  try {
    return new Tokenizer(
      { ...tokenizer, pre_tokenizer: asPatterns(tokenizer.pre_tokenizer) },
      { ...config, clean_up_tokenization_spaces: cleaned === true },
    );
  } catch (error) {
    throw unsupported(folder, `${messageOf(error)}; use a tokenizer whose parts are all known`);
  }
}

/** What ByteLevel splits by, after GPT-2. */
const words = "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+";

/**
 * Hugging Face's digits are the numerals of all scripts and its spaces are Unicode's. The library's own splitters take
 * JavaScript's \d and \s, but it reads patterns as Hugging Face does.
 */
function asPatterns(preTokenizer: unknown): unknown {
  const part = (preTokenizer ?? {}) as Record<string, unknown>;
  if (Array.isArray(part.pretokenizers))
    return { ...part, pretokenizers: part.pretokenizers.map(asPatterns) };
  if (part.type === 'Digits') return split(part.individual_digits ? '\\p{N}' : '\\p{N}+');
  if (part.type === 'ByteLevel' && part.use_regex !== false && part.add_prefix_space === false)
    return { type: 'Sequence', pretokenizers: [split(words), { ...part, use_regex: false }] };
  return preTokenizer;
}

function split(pattern: string): object {
  return { type: 'Split', pattern: { Regex: pattern }, behavior: 'Isolated', invert: false };
}

/** Unigram lists its tokens, the others map them to their ids. */
function idsOf(vocab: object): Iterable<number> {
  return Array.isArray(vocab) ? vocab.keys() : Object.values(vocab);
}

function unsupported(folder: string, what: string): ToolEnvError {
  return new ToolEnvError('usage.checkpoint_unsupported', `${join(folder, 'tokenizer.json')}: ${what}.`);
}
