/** ConversationLog: the conversations between clients and a model server, each as one line of a JSONL file once it grows no more. */
import { open } from 'node:fs/promises';
import { type ToolDescription, ToolEnvError } from '@toolenv/core';
import { wholeLines, withDiskErrors } from '@toolenv/core/files';
import { tryObject } from '@toolenv/core/schemas';
import { jsonWithoutSecrets } from '@toolenv/core/secrets';
import { digestsOf, keyOf, next, numberCalls } from '../sent-messages.ts';
import { BadRequest, type Conversation, type SentMessage } from '../wire/model-request.ts';
import type { Answer } from './answers.ts';

/** Conversations in memory. Further ones are written before they are idle. */
const maxOpen = 1_000;

interface OpenConversation {
  /** The server's answers as the server gave them. */
  messages: SentMessage[];
  tools: ToolDescription[];
  /** Who talks to the server, if known. */
  user: string | undefined;
  /** When the first answer came, in ISO 8601. */
  time: string;
  /** Indices of the messages that the server answered. */
  answered: Set<number>;
  /** Of `performance.now`. */
  used: number;
}

export class ConversationLog {
  readonly #file: string;
  /** By their users and the digests of their messages; the one that has not grown for longest first. */
  readonly #open: Map<string, OpenConversation> = new Map();
  /** Lines that are not written yet. */
  #lines: string[] = [];
  #writing: Promise<void> = Promise.resolve();

  private constructor(file: string) {
    this.#file = file;
  }

  /**
   * @throws ToolEnvError `infrastructure.disk` if the file cannot be written, `usage.broken_record` if its last line is half-written, as a
   *   crash leaves it.
   */
  static async open(file: string): Promise<ConversationLog> {
    await withDiskErrors(file, async () => {
      const handle = await open(file, 'a+');
      try {
        const { size } = await handle.stat();
        const whole = await wholeLines(handle, size);
        if (whole === size) return;
        const last = Buffer.alloc(size - whole);
        await handle.read(last, 0, last.length, whole);
        if (!tryObject(last.toString('utf8'))) {
          const message = `${file}: its last line is half-written: remove that line.`;
          throw new ToolEnvError('usage.broken_record', message);
        }
        await handle.appendFile('\n');
      } finally {
        await handle.close();
      }
    });
    return new ConversationLog(file);
  }

  /**
   * Adds an answer to the conversation that the request goes on, or begins another. Users share no conversation, even if they say the same.
   * @throws BadRequest for a conversation that no example can hold.
   */
  add(request: Conversation, answer: Answer, user?: string): void {
    checkCalls([...request.messages, answer]);
    const placeOf = (digest: string) => JSON.stringify([digest, user]);
    const asked = numberCalls([...request.messages, answer]);
    const said = asked.pop()!;
    const digests = digestsOf({ messages: asked, tools: request.tools });
    const withIds = digestsOf(request);
    const openAt = (at: number) =>
      [withIds, digests].map((each) => placeOf(each[at]!)).find((place) => this.#open.has(place));
    const known = digests.findLastIndex((_, at) => openAt(at) !== undefined);
    const found = known < 0 ? undefined : openAt(known)!;
    const past = found === undefined ? undefined : this.#open.get(found)!;
    if (found !== undefined) this.#open.delete(found);
    const messages = [...(past?.messages ?? []), ...asked.slice(known + 1), said];
    const answered = new Set(past?.answered).add(messages.length - 1);
    const byOrder = placeOf(next(digests.at(-1)!, keyOf(said)));
    // Clients that begin alike are told apart by the ids of their calls.
    const place = this.#open.has(byOrder) ? placeOf(next(withIds.at(-1)!, keyOf(answer))) : byOrder;
    const same = this.#open.get(place);
    // Said twice, word for word: both were answers of the model.
    if (same) this.#end(place, same);
    const time = past?.time ?? new Date().toISOString();
    const used = performance.now();
    this.#open.set(place, { messages, tools: request.tools, user, time, answered, used });
    const [[oldest, conversation] = []] = this.#open;
    if (this.#open.size > maxOpen) this.#end(oldest!, conversation!);
  }

  /** Writes the conversations that have not grown for so many milliseconds. Throws as {@link open} does; then nothing is lost. */
  async write({ idle }: { idle: number }): Promise<void> {
    const before = performance.now() - idle;
    for (const [place, conversation] of this.#open)
      if (conversation.used <= before) this.#end(place, conversation);
    // One after another, in their order.
    const turn = this.#writing.then(() => this.#writeLines());
    this.#writing = turn.catch(() => {});
    return turn;
  }

  #end(place: string, conversation: OpenConversation): void {
    this.#open.delete(place);
    this.#lines.push(`${lineOf(conversation)}\n`);
  }

  async #writeLines(): Promise<void> {
    const lines = this.#lines;
    if (lines.length === 0) return;
    this.#lines = [];
    try {
      await withDiskErrors(this.#file, async () => {
        const handle = await open(this.#file, 'a');
        try {
          const { size } = await handle.stat();
          // A part of the lines would be written twice.
          await handle.appendFile(lines.join('')).catch(async (error: unknown) => {
            await handle.truncate(size);
            throw error;
          });
        } finally {
          await handle.close();
        }
      });
    } catch (error) {
      this.#lines = [...lines, ...this.#lines];
      throw error;
    }
  }
}

/** Examples have calls with an object of arguments, and results of calls before them. */
function checkCalls(messages: readonly SentMessage[]): void {
  const calls = new Set<string>();
  for (const message of messages) {
    if (message.role === 'tool' && !calls.has(message.id))
      throw new BadRequest('messages', 'a result belongs to no call');
    for (const { id, name, arguments: args } of message.role === 'assistant' ? message.calls : []) {
      if (name === '' || !tryObject(args)) throw new BadRequest('messages', 'a call is malformed');
      calls.add(id);
    }
  }
}

/** As `sft-v1` reads it, and the time and the user, by which tasks are split. What the server has not answered here is context only: the words of a client, or a turn of another line. */
function lineOf({ messages, tools, answered, user, time }: OpenConversation): string {
  return jsonWithoutSecrets({
    messages: messages.map((message, i) => ({
      ...openAiMessage(message),
      ...(message.role === 'assistant' && !answered.has(i) && { weight: 0 }),
    })),
    ...(tools.length > 0 && {
      tools: tools.map(({ name, description, inputSchema: parameters }) => ({
        type: 'function',
        function: { name, description, parameters },
      })),
    }),
    time,
    user,
  });
}

function openAiMessage(message: SentMessage): object {
  const { role, text: content } = message;
  if (role === 'tool') return { role, content, tool_call_id: message.id };
  if (role !== 'assistant' || message.calls.length === 0) return { role, content };
  const tool_calls = message.calls.map(({ id, name, arguments: args }) => ({
    id,
    type: 'function',
    function: { name, arguments: args },
  }));
  return { role, content, tool_calls };
}
