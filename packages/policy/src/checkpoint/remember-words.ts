/** rememberWords: a byte-level tokenizer that spells each word once. */

/** Words that are remembered. With 16 characters each, they take some 6 MB. */
const maxWords = 65_536;
/** Longer words are rarely seen again (characters). */
const longest = 32;

/** Reverses the encoder, for a byte order mark too. */
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

/** What is used of the library's ByteLevel. TypeScript does not find the library's own types of these parts. */
interface ByteLevel {
  add_prefix_space: boolean;
  use_regex: boolean;
  /** Matches a word. */
  pattern: RegExp;
  text_encoder: { encode(text: string): Uint8Array };
  /** The character that stands for each byte. */
  byte_encoder: Readonly<Record<number, string>>;
  pre_tokenize_text(text: string): string[];
}

/** The library's Sequence. */
interface Sequence {
  tokenizers: readonly unknown[];
}

/**
 * Changes the ByteLevel of a pre-tokenizer, in a sequence too. The library's own method spells a word byte by byte each time
 * that it occurs. That takes from a third to two thirds of the time of tokenising English.
 */
export function rememberWords(preTokenizer: unknown): void {
  const part = (preTokenizer ?? {}) as Partial<Sequence & ByteLevel>;
  for (const inner of part.tokenizers ?? []) rememberWords(inner);
  if (part.byte_encoder) spellOnce(part as ByteLevel);
}

function spellOnce(part: ByteLevel): void {
  const { add_prefix_space, use_regex, pattern, text_encoder, byte_encoder } = part;
  const known = new Map<string, string>();
  const spell = (word: string): string => {
    const before = known.get(word);
    if (before !== undefined) return before;
    const bytes = text_encoder.encode(word);
    const spelled = Array.from(bytes, (byte) => byte_encoder[byte]).join('');
    if (word.length > longest) return spelled;
    if (known.size === maxWords) known.clear();
    // A copy, because a part of a text keeps the whole text in memory.
    known.set(decoder.decode(bytes), spelled);
    return spelled;
  };
  part.pre_tokenize_text = (text) => {
    const whole = add_prefix_space && !text.startsWith(' ') ? ` ${text}` : text;
    const words = use_regex ? (whole.match(pattern) ?? []) : [whole];
    return words.map(spell);
  };
}
