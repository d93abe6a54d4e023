/** TaskTable: the distinct tasks of conversations, and which conversations began with each. */
import { createHash } from 'node:crypto';
import { canonical } from '@toolenv/core/recording';
import type { Conversation, SpokenMessage } from './conversation.ts';
import { signatureOf } from './near-duplicates.ts';

/** Splits in the order in which they keep a task that occurs in several. */
export const splits = ['train', 'validation', 'test'] as const;

/** What memory holds of a conversation. */
export interface SeenConversation {
  task: SeenTask;
  /** Index in `splits`. */
  split: number;
  /** Milliseconds since 1970. Infinity if it is not known. */
  time: number;
  /** Of its texts. */
  digest: string;
  /** Index in the spool; -1 if it is not kept there. */
  entry: number;
}

/** A task, however often it was given. */
export interface SeenTask {
  /** Of its messages and tools, white space aside. */
  id: string;
  /** The first of its conversations. */
  first: SeenConversation;
  /** Of the words of the user. Present if near-duplicates count. */
  signature: Uint16Array | undefined;
  /** The names of its tools: tasks with others are not near-duplicates. */
  scope: string;
}

/** What is added of a conversation. */
export interface AddedTexts {
  /** The split of a conversation with the task of this id. */
  splitOf(id: string): number;
  digest: string;
  /** Keeps its texts, and returns their index. Called with `keepAll`, and for the first conversation of its task so far. */
  keep(): number;
  keepAll: boolean;
}

export class TaskTable {
  readonly conversations: SeenConversation[] = [];
  readonly #tasks: Map<string, SeenTask> = new Map();
  readonly #hasSignatures: boolean;
  /** By the lists themselves: the redactor gives equal lists of tools as one. */
  readonly #toolKeys: WeakMap<object, string> = new WeakMap();

  constructor({ hasSignatures }: { hasSignatures: boolean }) {
    this.#hasSignatures = hasSignatures;
  }

  get tasks(): SeenTask[] {
    return [...this.#tasks.values()];
  }

  /**
   * Adds a conversation. Which of several conversations is the first of its task does not depend on the order in which they are added.
   */
  add(
    { tools, time = Number.POSITIVE_INFINITY }: Conversation,
    prompt: readonly SpokenMessage[],
    { splitOf, digest, keepAll, keep }: AddedTexts,
  ): void {
    const id = digestOf([prompt.map(({ role, content }) => [role, plain(content)]), this.#keyOf(tools)]);
    const known = this.#tasks.get(id);
    const seen = { split: splitOf(id), time, digest, entry: -1 } as SeenConversation;
    const isFirst = known === undefined || precedes(seen, known.first);
    seen.task = known ?? {
      ...{ id, first: seen },
      signature: this.#hasSignatures ? signatureOf(wordsOfUser(prompt)) : undefined,
      scope: this.#hasSignatures ? JSON.stringify(tools.map(nameOf).sort()) : '',
    };
    if (isFirst || keepAll) seen.entry = keep();
    if (isFirst) seen.task.first = seen;
    this.#tasks.set(id, seen.task);
    this.conversations.push(seen);
  }

  #keyOf(tools: object): string {
    const key = this.#toolKeys.get(tools) ?? digestOf(canonical(tools));
    this.#toolKeys.set(tools, key);
    return key;
  }
}

/** 88 bits of a value's JSON. */
export function digestOf(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 22);
}

/** The order of conversations: by their splits, times and texts. */
export function precedes(one: SeenConversation, other: SeenConversation): boolean {
  if (one.split !== other.split) return one.split < other.split;
  if (one.time !== other.time) return one.time < other.time;
  return one.digest < other.digest;
}

function plain(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}

function wordsOfUser(prompt: readonly SpokenMessage[]): string {
  return prompt.flatMap(({ role, content }) => (role === 'user' ? [content] : [])).join('\n');
}

function nameOf(tool: Record<string, unknown>): string {
  const { name } = Object(tool.function ?? tool) as { name?: unknown };
  return String(name);
}
