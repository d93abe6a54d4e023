/** CallConstraints: which tokens of a checkpoint keep each call of a turn one that an offered tool takes. */
import { ToolEnvError } from '@toolenv/core';
import { Automaton, type State } from './automaton.ts';
import type { Sequence } from './part.ts';
import { type Bytes, type TokenizerParts, tokenBytes } from './token-bytes.ts';
import { TokenTrie } from './token-trie.ts';
import { ofTool, type Tool, type TurnFormat, turnFormat, turnGrammar } from './turn-grammar.ts';

/** What a checkpoint says of its tokens and calls. */
export interface CallVocabulary extends TokenizerParts {
  /** The name of the format of calls. */
  format: string;
  /** Texts of the special tokens that mark calls. */
  markers: readonly string[];
  endTokens: readonly number[];
  /** The number of tokens that the model predicts. */
  size: number;
}

/** The grammars that are kept; states, and bytes of sets of tokens, after which an automaton begins anew. */
const most = { grammars: 32, states: 20_000, memory: 64 * 2 ** 20 };

/** A grammar and its automaton so far. */
interface Kept {
  turn: Sequence;
  automaton: Automaton;
  memory: number;
}

export class CallConstraints {
  readonly #vocabulary: CallVocabulary;
  readonly #format: TurnFormat;
  /** By token; end tokens have none. */
  readonly #bytes: readonly (Bytes | undefined)[];
  readonly #trie: TokenTrie;
  /** By the names and schemas of the tools. */
  readonly #kept: Map<string, Kept> = new Map();

  /** @throws ToolEnvError `usage.constrain_calls` if the format or the tokenizer is of another kind. */
  constructor(vocabulary: CallVocabulary) {
    this.#vocabulary = vocabulary;
    this.#format = turnFormat(vocabulary.format);
    const bytes = tokenBytes(vocabulary, vocabulary.markers);
    for (const token of vocabulary.endTokens) bytes[token] = undefined;
    this.#bytes = bytes;
    const first = new Set(this.#format.markers.map((marker) => marker.charCodeAt(0)));
    this.#trie = new TokenTrie(bytes, (byte) => first.has(byte));
  }

  /**
   * The limit for a turn with these tools.
   * @throws ToolEnvError `usage.constrain_calls` for a schema that is too hard. `accept` throws it if no token continues a call.
   */
  limit(tools: readonly Tool[]): TokenLimit {
    const kept = this.#keep(tools);
    let state = kept.automaton.start;
    const limit = {
      allowed: this.#allowed(kept, state),
      accept: (token: number) => {
        const bytes = this.#bytes[token] ?? '';
        for (let i = 0; i < bytes.length; i++) state = kept.automaton.step(state, bytes.charCodeAt(i))!;
        limit.allowed = this.#allowed(kept, state);
      },
    };
    return limit;
  }

  #keep(tools: readonly Tool[]): Kept {
    const key = tools.map((tool) => ofTool(tool, () => JSON.stringify([tool.name, tool.inputSchema]))).join();
    const known = this.#kept.get(key);
    const turn = known?.turn ?? turnGrammar(this.#format, tools);
    const isFull = known && (known.automaton.size > most.states || known.memory > most.memory);
    const kept = known && !isFull ? known : { turn, automaton: new Automaton(turn), memory: 0 };
    // The grammar that was used last is dropped last.
    this.#kept.delete(key);
    this.#kept.set(key, kept);
    if (this.#kept.size > most.grammars) this.#kept.delete(this.#kept.keys().next().value!);
    return kept;
  }

  #allowed(kept: Kept, state: State): Uint32Array | undefined {
    if (state.allowed) return state.allowed.bits;
    const bits = this.#find(kept, state);
    kept.memory += bits?.byteLength ?? 0;
    if (kept.memory <= most.memory) state.allowed = { bits };
    return bits;
  }

  #find({ automaton }: Kept, state: State): Uint32Array | undefined {
    const { size, endTokens, folder } = this.#vocabulary;
    const bits = new Uint32Array(Math.ceil(size / 32));
    let count = 0;
    const add = (token: number) => {
      bits[token >>> 5]! |= 1 << (token & 31);
      count += 1;
    };
    this.#trie.collect(state, automaton, add);
    if (state.isText) {
      for (let token = 0; token < size; token++) if (!this.#bytes[token]) add(token);
    } else if (state.mayEnd) for (const token of endTokens) add(token);
    if (count === size) return undefined;
    if (count > 0) return bits;
    const message = `${folder}: no token continues a call, because the vocabulary lacks bytes of the names or values that the tools take: leave constrainCalls out.`;
    throw new ToolEnvError('usage.constrain_calls', message);
  }
}

/** TokenLimit: which tokens may be drawn next in a sequence. */
export interface TokenLimit {
  /** A bit for each token of the vocabulary, 32 in an entry; `undefined` if all may be drawn. */
  readonly allowed: Uint32Array | undefined;
  /**
   * Goes on after a token, before the next is drawn.
   * @throws ToolEnvError if no token may follow.
   */
  accept(token: number): void;
}
