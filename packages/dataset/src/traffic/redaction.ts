/** Redaction: what rewrites the texts of conversations, or drops conversations, before anything is made of them. */
import { messageOf, ToolEnvError } from '@toolenv/core';
import { createRedactor } from '@toolenv/core/recording';
import type { Conversation, SpokenMessage } from './conversation.ts';

/**
 * Receives every text of a conversation, the names in its tools among them. Returns the text to keep, or `null` to drop the conversation. Equal texts must
 * give equal results.
 */
export type Redaction = (text: string) => string | null | Promise<string | null>;

/** Values that look secret whatever is around them. Repetitions that may fail after a match are bounded, so that no text takes quadratic time. */
const patterns = [
  /[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63})+/gu,
  /-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]{0,40}PRIVATE KEY-----|$)/g,
  /\b(?:sk|pk|rk)[-_][\w-]{16,}/g,
  /\b(?:gh[pousr]|github_pat|glpat|hf|npm|xox[abeoprs]|dop_v1|ya29)[-_.][\w.-]{10,}/g,
  /\bA(?:KIA|SIA)[A-Z0-9]{16}\b/g,
  /\bAIza[\w-]{30,}/g,
  /\beyJ[\w-]{8,2048}\.[\w-]{8,4096}\.[\w-]*/g,
  /(?<=\b(?:bearer|basic)\s{1,4})(?:(?=[\w.~+/=-]{0,64}\d)[\w.~+/=-]{8,}|[\w.~+/=-]{20,})/gi,
  /(?<=:\/\/[^\s/:@]{0,256}:)[^\s/@]{1,256}(?=@)/g,
];

let redactor: ((text: string) => string) | undefined;

/**
 * Replaces obvious secrets by `[redacted]`: e-mail addresses, private keys, bearer tokens, passwords in URLs, keys in the formats of well-known services, values
 * after names such as `password=` and `"api_key":`, and the secrets of this process and its environment. It finds patterns, not meaning: names of people stay.
 */
export function redactSecrets(text: string): string {
  redactor ??= createRedactor({ values: patterns });
  return redactor(text);
}

/** Tool lists that are remembered: an agent has the same in all of its conversations. */
const maxTools = 100;

/** Redacts conversations by several redactions, in their order. Equal lists of tools become one. */
export class Redactor {
  readonly #redactions: readonly Redaction[];
  /** By the JSON of the tools. */
  readonly #tools: Map<string, Record<string, unknown>[]> = new Map();

  constructor(redactions: readonly Redaction[]) {
    this.#redactions = redactions;
  }

  /**
   * @returns `undefined` if a redaction drops the conversation.
   * @throws ToolEnvError `usage.redaction` if a redaction throws, or returns neither a text nor `null`.
   */
  async redact(conversation: Conversation, place: string): Promise<Conversation | undefined> {
    try {
      const messages: SpokenMessage[] = [];
      for (const message of conversation.messages) messages.push(await this.#message(message));
      return { ...conversation, messages, tools: await this.#toolList(conversation.tools) };
    } catch (error) {
      if (error === dropped) return undefined;
      const message = `${place}: the redaction failed (${messageOf(error)}). Let it return a text, or null to drop the conversation.`;
      throw new ToolEnvError('usage.redaction', message, { cause: error });
    }
  }

  async #message({ role, content, calls }: SpokenMessage): Promise<SpokenMessage> {
    const clean: SpokenMessage = { role, content: await this.#text(content) };
    if (!calls) return clean;
    clean.calls = [];
    for (const { name, arguments: args } of calls)
      clean.calls.push({ name: await this.#text(name), arguments: await this.#text(args) });
    return clean;
  }

  async #toolList(tools: Record<string, unknown>[]): Promise<Record<string, unknown>[]> {
    const key = JSON.stringify(tools);
    const known = this.#tools.get(key);
    if (known) return known;
    const clean = (await this.#value(tools)) as Record<string, unknown>[];
    if (this.#tools.size >= maxTools) this.#tools.clear();
    this.#tools.set(key, clean);
    return clean;
  }

  async #value(value: unknown): Promise<unknown> {
    if (typeof value === 'string') return this.#text(value);
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) {
      const items: unknown[] = [];
      for (const item of value) items.push(await this.#value(item));
      return items;
    }
    const parts: [string, unknown][] = [];
    for (const [name, part] of Object.entries(value))
      parts.push([await this.#text(name), await this.#value(part)]);
    return Object.fromEntries(parts);
  }

  async #text(text: string): Promise<string> {
    let clean = text;
    for (const redaction of this.#redactions) {
      const result: unknown = await redaction(clean);
      if (result === null) throw dropped;
      if (typeof result !== 'string') throw new TypeError(`it returned ${typeof result}`);
      clean = result;
    }
    return clean;
  }
}

/** Thrown where a redaction drops a conversation. */
const dropped = new Error('dropped');
