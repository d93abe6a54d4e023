/** Automaton: reads text byte by byte as parts allow. It holds all ways to read the text at once, each a stack of parts. */
import type { Part, Sequence } from './part.ts';
import type { Reader } from './token-trie.ts';

/** A part and what follows it. Equal stacks are one object. */
interface Stack {
  id: number;
  part: Part;
  next: Stack | undefined;
  /** The stacks that it stands for. Found when they are first needed. */
  opened?: Stack[];
}

export interface State {
  /** Ways to read on. Their parts read bytes. */
  readonly stacks: readonly Stack[];
  /** The states after bytes that were read before. */
  readonly after: Map<number, State | undefined>;
  /** A bit for each token that may come next; `undefined` if all may. Found when it is first needed. */
  allowed?: { bits: Uint32Array | undefined };
  readonly mayEnd: boolean;
  readonly isText: boolean;
}

/** Ways to read a text that are followed at once. Each of them leads to an end, so that others may be dropped. */
const maxStacks = 600;

export class Automaton implements Reader<State> {
  readonly #stacks: Map<string, Stack> = new Map();
  readonly #states: Map<string, State> = new Map();
  readonly start: State;

  constructor(start: Sequence) {
    this.start = this.#state(this.#opened([start], undefined))!;
  }

  /** The number of states so far. */
  get size(): number {
    return this.#states.size;
  }

  step(state: State, byte: number): State | undefined {
    const known = state.after.get(byte);
    if (known !== undefined || state.after.has(byte)) return known;
    const stacks: Stack[] = [];
    for (const { part, next } of state.stacks) {
      for (const stack of this.#opened(part.read!(byte), next)) stacks.push(stack);
      if (stacks.length > maxStacks) break;
    }
    const after = this.#state(stacks);
    state.after.set(byte, after);
    return after;
  }

  takesAll({ stacks }: State, held: number, longest: number): boolean {
    return stacks.some(({ part }) => part.takesAll?.(held, longest) === true);
  }

  /** The stacks of the sequences before `next`, with parts that read bytes on top. */
  #opened(sequences: readonly Sequence[] | undefined, next: Stack | undefined): Stack[] {
    return (sequences ?? []).flatMap((sequence) => {
      const top = sequence.reduceRight<Stack | undefined>((rest, part) => this.#stack(part, rest), next);
      if (!top) return [];
      if (!top.part.open) return [top];
      top.opened ??= this.#opened(top.part.open(), top.next);
      return top.opened;
    });
  }

  #stack(part: Part, next: Stack | undefined): Stack {
    const key = `${next?.id ?? ''} ${part.key}`;
    const stack: Stack = this.#stacks.get(key) ?? { id: this.#stacks.size, part, next };
    this.#stacks.set(key, stack);
    return stack;
  }

  #state(given: Stack[]): State | undefined {
    if (given.length === 0) return undefined;
    const stacks = [...new Set(given)].sort((a, b) => a.id - b.id);
    const key = stacks.map(({ id }) => id).join();
    const known = this.#states.get(key);
    if (known) return known;
    const mayEnd = stacks.some(({ part }) => part.mayEnd);
    const state = { stacks, after: new Map(), mayEnd, isText: stacks.some(({ part }) => part.isText) };
    this.#states.set(key, state);
    return state;
  }
}
