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
      { ...tokenizer, pre_tokenizer: withAllDigits(tokenizer.pre_tokenizer) },
      { ...config, clean_up_tokenization_spaces: cleaned === true },
    );
  } catch (error) {
    throw unsupported(folder, `${messageOf(error)}; use a tokenizer whose parts are all known`);
  }
}

/** Hugging Face's digits are the numerals of all scripts, those of JavaScript's \d only 0 to 9. */
function withAllDigits(preTokenizer: unknown): unknown {
  const { type, pretokenizers, individual_digits: single } = (preTokenizer ?? {}) as Record<string, unknown>;
  if (Array.isArray(pretokenizers))
    return { ...(preTokenizer as object), pretokenizers: pretokenizers.map(withAllDigits) };
  if (type !== 'Digits') return preTokenizer;
  const pattern = { Regex: single ? '\\p{N}' : '\\p{N}+' };
  return { type: 'Split', pattern, behavior: 'Isolated', invert: false };
}

/** Unigram lists its tokens, the others map them to their ids. */
function idsOf(vocab: object): Iterable<number> {
  return Array.isArray(vocab) ? vocab.keys() : Object.values(vocab);
}

function unsupported(folder: string, what: string): ToolEnvError {
  return new ToolEnvError('usage.checkpoint_unsupported', `${join(folder, 'tokenizer.json')}: ${what}.`);
}
