/** The vocabulary as a tree of bytes, so that the tokens that may follow a state are found without trying each token. */
import { commonPrefix } from '../common-prefix.ts';
import type { Bytes } from './token-bytes.ts';

/** What the paths below a node hold. */
export const below = {
  /** A byte that is not of well-formed text, or a character that is cut, if a character begins at the node. */
  malformed: 1,
  /** A quote, a backslash or a control character. */
  structure: 16,
  /** A byte with which a marker begins. */
  marker: 32,
} as const;

/** What reads tokens byte by byte. */
export interface Reader<State> {
  /** `undefined` if the byte may not come next. */
  step(state: State, byte: number): State | undefined;
  /**
   * Whether the state reads everything below a node, by what the paths hold.
   * @param longest Characters of the longest path.
   */
  takesAll(state: State, held: number, longest: number): boolean;
}

export class TokenTrie {
  /** Tokens in the order of their bytes. */
  readonly #order: Int32Array;
  // The nodes in depth-first order. A subtree is a range of nodes, and its tokens are a range of `order`.
  readonly #bytes: Uint8Array;
  readonly #depths: Uint16Array;
  /** The node after the subtree. */
  readonly #ends: Int32Array;
  /** The place in `order` of the first token of the subtree. Tokens that end at the node come first. */
  readonly #firsts: Int32Array;
  readonly #held: Uint8Array;
  readonly #longest: Uint16Array;

  /** @param isMarker Whether a marker begins with the byte. */
  constructor(tokens: readonly (Bytes | undefined)[], isMarker: (byte: number) => boolean) {
    const known = tokens.flatMap((bytes, id) => (bytes ? [{ bytes, id }] : []));
    known.sort((a, b) => (a.bytes < b.bytes ? -1 : a.bytes > b.bytes ? 1 : a.id - b.id));
    this.#order = Int32Array.from(known, ({ id }) => id);
    const added = known.map(({ bytes }, i) => bytes.length - commonPrefix(known[i - 1]?.bytes ?? '', bytes));
    const size = 1 + added.reduce((sum, count) => sum + count, 0);
    this.#bytes = new Uint8Array(size);
    this.#depths = new Uint16Array(size);
    this.#ends = new Int32Array(size).fill(size);
    this.#firsts = new Int32Array(size + 1).fill(known.length);
    this.#held = new Uint8Array(size);
    this.#longest = new Uint16Array(size);
    const parents = new Int32Array(size);
    /** The nodes on the path to the last token. */
    const path = [0];
    this.#firsts[0] = 0;
    let node = 1;
    for (const [i, { bytes }] of known.entries()) {
      const kept = bytes.length - added[i]!;
      for (const closed of path.splice(kept + 1)) this.#ends[closed] = node;
      for (let depth = kept; depth < bytes.length; depth++, node++) {
        this.#bytes[node] = bytes.charCodeAt(depth);
        this.#depths[node] = depth + 1;
        this.#firsts[node] = i;
        parents[node] = path.at(-1)!;
        path.push(node);
      }
    }
    for (let child = size - 1; child > 0; child--) this.#describe(child, parents[child]!, isMarker);
  }

  /** Adds to the parent what a child holds, after all of the child's children. */
  #describe(child: number, parent: number, isMarker: (byte: number) => boolean): void {
    const byte = this.#bytes[child]!;
    const isRest = (byte & 0xc0) === 0x80;
    let held = this.#held[child]!;
    // A token that ends here cuts a character of which bytes are missing: 1 to 3, one bit each.
    if (this.#firsts[child + 1]! > this.#firsts[child]!) held |= 0b1110;
    const missing = byte < 0x80 ? 0 : restOf(byte);
    const afterByte = missing === undefined ? 1 : (held >> missing) & 1;
    const afterRest = isRest ? (held & 0b111) << 1 : 0b1110;
    let own = held & ~0b1111;
    if (byte < 0x20 || byte === 0x22 || byte === 0x5c) own |= below.structure;
    if (isMarker(byte)) own |= below.marker;
    this.#held[parent]! |= own | afterByte | afterRest;
    this.#longest[parent] = Math.max(this.#longest[parent]!, this.#longest[child]! + (isRest ? 0 : 1));
  }

  /** Calls `add` with each token that the reader reads from the state. */
  collect<State>(from: State, reader: Reader<State>, add: (token: number) => void): void {
    const order = this.#order;
    const firsts = this.#firsts;
    const states: State[] = [from];
    const size = this.#bytes.length;
    let node = reader.takesAll(from, this.#held[0]!, this.#longest[0]!) ? size : 1;
    if (node === size) for (let i = 0; i < order.length; i++) add(order[i]!);
    while (node < size) {
      const depth = this.#depths[node]!;
      const state = reader.step(states[depth - 1]!, this.#bytes[node]!);
      const end = this.#ends[node]!;
      if (state === undefined) {
        node = end;
        continue;
      }
      const isWhole = reader.takesAll(state, this.#held[node]!, this.#longest[node]!);
      const last = firsts[isWhole ? end : node + 1]!;
      for (let i = firsts[node]!; i < last; i++) add(order[i]!);
      states[depth] = state;
      node = isWhole ? end : node + 1;
    }
  }
}

/** The bytes that follow a first byte of UTF-8; `undefined` if there is none, or if not all bytes may follow. */
function restOf(byte: number): number | undefined {
  if (byte >= 0xc2 && byte <= 0xdf) return 1;
  if (byte >= 0xe1 && byte <= 0xef && byte !== 0xed) return 2;
  return byte >= 0xf1 && byte <= 0xf3 ? 3 : undefined;
}
