/** The bytes that each token adds to a text. A token may end inside a character, so that calls are limited byte by byte. */
import { ToolEnvError } from '@toolenv/core';
import { addedTokens } from '../checkpoint/tokenizer.ts';

/** Bytes, one in each character of a string. Such strings compare, slice and serve as keys. */
export type Bytes = string;

export function bytesOf(text: string): Bytes {
  return Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)).join('');
}

/** The parts of a checkpoint that say what its tokens write. */
export interface TokenizerParts {
  folder: string;
  tokenizer: Record<string, unknown>;
  tokenizerConfig: Record<string, unknown>;
}

/**
 * The bytes of each token by its id. Special tokens, which decoding leaves out, have none, except those that mark calls.
 * @param markers Texts of the special tokens that mark calls.
 * @throws ToolEnvError `usage.constrain_calls` if the tokens of the tokenizer have no fixed bytes.
 */
export function tokenBytes(
  { folder, tokenizer, tokenizerConfig }: TokenizerParts,
  markers: readonly string[],
): (Bytes | undefined)[] {
  const { type, vocab } = tokenizer.model as { type: string; vocab: Record<string, number> };
  const toBytes = type === 'BPE' ? writerOf(tokenizer.decoder) : undefined;
  if (!toBytes) {
    const message = `${folder}: calls can be constrained with tokenizers of byte-level BPE, or of BPE with byte fallback: leave constrainCalls out.`;
    throw new ToolEnvError('usage.constrain_calls', message);
  }
  const bytes: (Bytes | undefined)[] = [];
  for (const [token, id] of Object.entries(vocab)) bytes[id] = toBytes(token);
  const left = new Set(tokenizerConfig.additional_special_tokens as Iterable<unknown> | undefined);
  for (const { id, content, special } of addedTokens(tokenizer)) {
    const isWritten = markers.includes(content) || !(special || left.has(content));
    bytes[id] = isWritten ? bytesOf(content) : undefined;
  }
  return bytes;
}

interface Decoder {
  type: string;
  decoders?: Decoder[];
  pattern?: { String?: string };
  content?: string;
}

/** How a decoder writes a token; `undefined` for a decoder that writes it differently in different places. */
function writerOf(decoder: unknown): ((token: string) => Bytes) | undefined {
  const outer = decoder as Decoder | null;
  const steps = outer?.decoders ?? (outer ? [outer] : []);
  const isOf = (...types: string[]) => steps.every(({ type }) => types.includes(type));
  if (steps.length === 1 && isOf('ByteLevel'))
    return (token) => Array.from(token, (each) => byteOf.get(each) ?? bytesOf(each)).join('');
  if (!steps.some(({ type }) => type === 'ByteFallback')) return undefined;
  // Strip drops the space before a text, where it changes no call.
  if (!isOf('Replace', 'ByteFallback', 'Fuse', 'Strip')) return undefined;
  const replaced = steps.filter(({ type, pattern }) => type === 'Replace' && pattern?.String !== undefined);
  return (token) => {
    const [, hex] = /^<0x([0-9A-F]{2})>$/.exec(token) ?? [];
    if (hex !== undefined) return String.fromCharCode(Number.parseInt(hex, 16));
    return bytesOf(
      replaced.reduce((text, step) => text.replaceAll(step.pattern!.String!, step.content!), token),
    );
  };
}

/** The byte of each character of GPT-2's byte-level alphabet: printable bytes are themselves, the others follow from 256 on. */
const byteOf: ReadonlyMap<string, Bytes> = byteAlphabet();

function byteAlphabet(): Map<string, Bytes> {
  const alphabet = new Map<string, Bytes>();
  let next = 256;
  for (let byte = 0; byte < 256; byte++) {
    const isPrintable = (byte > 0x20 && byte < 0x7f) || (byte > 0xa0 && byte !== 0xad);
    alphabet.set(String.fromCharCode(isPrintable ? byte : next++), String.fromCharCode(byte));
  }
  return alphabet;
}
