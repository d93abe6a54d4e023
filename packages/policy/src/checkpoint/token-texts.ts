/** The texts of single tokens, for people who look at what was sampled. Needs the files of the tokenizer only. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { messageOf, ToolEnvError } from '@toolenv/core';
import { readRegular } from '@toolenv/core/files';
import { checkpointFolder } from '#checkpoint-folder';
import { checkTokenizer, openTokenizer } from './tokenizer.ts';

/** Tokens that make up a character at most: its bytes in UTF-8. */
const longest = 4;

/**
 * @param name A folder, or a name of the Hugging Face Hub.
 * @returns The text of each token, special tokens included. A character of several tokens is in the text of the last of
 *   them; the others have an empty text.
 * @throws ToolEnvError `usage.checkpoint_missing` if the folder has no readable tokenizer.json and tokenizer_config.json, and other
 *   `usage.checkpoint_*` as {@link checkTokenizer} and {@link openTokenizer} do.
 */
export async function tokenTexts(name: string): Promise<(ids: Int32Array) => string[]> {
  let { folder, adapter } = await checkpointFolder(name, { parts: 'tokenizer' });
  // An adapter may have the tokenizer of its base model.
  while (adapter && !existsSync(join(folder, 'tokenizer.json'))) ({ folder, adapter } = adapter.of);
  const parts = await readJson(join(folder, 'tokenizer.json'));
  // Without weights, there is no vocabulary to compare with.
  checkTokenizer(folder, parts, Number.POSITIVE_INFINITY);
  const tokenizer = openTokenizer(folder, parts, await readJson(join(folder, 'tokenizer_config.json')));
  const decode = (ids: number[]) => tokenizer.decode(ids, { skip_special_tokens: false });
  // Some decoders drop a space at the start of a text: decode tokens after the token before them.
  const decodeAfter = (before: number | undefined, ids: number[]) => {
    if (before === undefined) return decode(ids);
    const [prefix, both] = [decode([before]), decode([before, ...ids])];
    return both.startsWith(prefix) ? both.slice(prefix.length) : decode(ids);
  };
  return (ids) => {
    let before: number | undefined;
    let open: number[] = [];
    return Array.from(ids, (id, index) => {
      open.push(id);
      const text = decodeAfter(before, open);
      const isCut = text.endsWith('\uFFFD') && open.length < longest && index < ids.length - 1;
      if (isCut) return '';
      before = id;
      open = [];
      return text;
    });
  };
}

async function readJson(file: string): Promise<Record<string, unknown>> {
  try {
    return Object(JSON.parse(await readRegular(file)));
  } catch (error) {
    if (ToolEnvError.isInstance(error)) throw error;
    const message = `${file} cannot be read (${messageOf(error)}): name a Hugging Face folder with its tokenizer.`;
    throw new ToolEnvError('usage.checkpoint_missing', message, { cause: error });
  }
}
