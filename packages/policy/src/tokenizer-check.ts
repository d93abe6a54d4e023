/** Whether a tokenizer.json is of a kind that is known, and of a model's vocabulary. */
import { ToolEnvError } from '@toolenv/core';

const modelKinds = ['BPE', 'WordPiece', 'Unigram'];

/**
 * @throws ToolEnvError `usage.checkpoint_unsupported` if it has tokens that the model has no embedding for, or is of
 * another kind. Fewer tokens than embeddings are fine: checkpoints pad theirs.
 */
export function checkTokenizer(
  file: string,
  tokenizer: Record<string, unknown>,
  vocabularySize: number,
): void {
  const refuse = (what: string) => new ToolEnvError('usage.checkpoint_unsupported', `${file}: ${what}.`);
  const { type, vocab } = (tokenizer.model ?? {}) as { type?: unknown; vocab?: object };
  if (!modelKinds.some((kind) => kind === type)) {
    const known = modelKinds.join(', ');
    throw refuse(`model.type ${JSON.stringify(type)} is not supported; use a tokenizer of ${known}`);
  }
  const added = (tokenizer.added_tokens ?? []) as { id: number }[];
  let highest = -1;
  for (const id of idsOf(vocab ?? {})) highest = Math.max(highest, id);
  for (const { id } of added) highest = Math.max(highest, id);
  if (highest >= vocabularySize) {
    throw refuse(
      `its token ids go up to ${highest}, config.json's vocab_size is ${vocabularySize}: use the tokenizer of this model`,
    );
  }
}

/** Unigram lists its tokens, the others map them to their ids. */
function idsOf(vocab: object): Iterable<number> {
  return Array.isArray(vocab) ? vocab.keys() : Object.values(vocab);
}
