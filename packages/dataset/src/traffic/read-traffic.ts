/** readTraffic: recorded conversations, redacted, as a table of their tasks. Their texts wait in a temporary file. */
import { stat } from 'node:fs/promises';
import { ToolEnvError } from '@toolenv/core';
import { Spool } from '@toolenv/core/env';
import { isGzip } from '@toolenv/core/files';
import { tryJson } from '@toolenv/core/schemas';
import { fileBytes } from '../file-bytes.ts';
import { decode, maxObjectLength, refuseUtf16 } from '../json-objects.ts';
import { readFailure, requireFile } from '../read-failure.ts';
import { type SplitShares, splitOfName } from './assign-splits.ts';
import { type Conversation, firstMessages, readConversation, type SpokenMessage } from './conversation.ts';
import { Redactor } from './redaction.ts';
import { digestOf, type SeenConversation, TaskTable } from './task-table.ts';
import type { TrafficOptions } from './traffic-options.ts';

/** Conversations by the reason for which they are left out. */
export interface DroppedConversations {
  /** A redaction returned `null`. */
  byRedaction: number;
  /** No message of a user. */
  withoutQuestion: number;
  /** Of an unknown user, where users are split. */
  withoutUser: number;
  /** Of an unknown time, where times are split. */
  withoutTime: number;
  /** Last lines of a file that are not whole. */
  halfWritten: number;
}

export interface ReadTraffic {
  conversations: number;
  dropped: DroppedConversations;
  table: TaskTable;
  /** The texts of a conversation that is in the spool: all messages with a score, else the first ones. */
  textsOf(seen: SeenConversation): Promise<{ messages: SpokenMessage[]; tools: Record<string, unknown>[] }>;
}

type SplitPlan = SplitShares & { splitBy: 'task' | 'user' | 'time' };

/** Reads the files one after another. Throws as `writeTrafficTasks` does. */
export async function readTraffic(
  { captured, redact = [], score, nearDuplicates, signal, onProgress = () => {} }: TrafficOptions,
  plan: SplitPlan,
): Promise<ReadTraffic> {
  const table = new TaskTable({ hasSignatures: nearDuplicates !== undefined });
  const spool = new Spool('The conversations');
  const redactor = new Redactor(redact);
  const dropped: DroppedConversations = {
    ...{ byRedaction: 0, withoutQuestion: 0, withoutUser: 0, withoutTime: 0, halfWritten: 0 },
  };
  const total = await sizeOf(captured);
  let [conversations, done] = [0, 0];
  const onBytes = (count: number) => {
    done += count;
    onProgress({ stage: 'reading', done, total, conversations });
  };
  for (const file of captured) {
    for await (const { text, place, isHalfWritten } of textLines(file, onBytes)) {
      signal?.throwIfAborted();
      conversations += 1;
      const read = isHalfWritten ? 'halfWritten' : readConversation(text, place);
      const reason = typeof read === 'string' ? read : unfitFor(plan, read);
      const conversation = reason ? undefined : await redactor.redact(read as Conversation, place);
      if (!conversation) dropped[reason ?? 'byRedaction'] += 1;
      else addTo(table, spool, { conversation, plan, keepAll: score !== undefined });
    }
  }
  return {
    ...{ conversations, dropped, table },
    textsOf: async ({ entry }) => JSON.parse((await spool.read(entry)).toString()),
  };
}

function unfitFor(
  { splitBy }: SplitPlan,
  conversation: Conversation,
): keyof DroppedConversations | undefined {
  if (firstMessages(conversation).length === 0) return 'withoutQuestion';
  if (splitBy === 'user' && conversation.user === undefined) return 'withoutUser';
  if (splitBy === 'time' && conversation.time === undefined) return 'withoutTime';
  return undefined;
}

function addTo(
  table: TaskTable,
  spool: Spool,
  { conversation, plan, keepAll }: { conversation: Conversation; plan: SplitPlan; keepAll: boolean },
): void {
  const { messages, tools, user } = conversation;
  const prompt = firstMessages(conversation);
  const texts = { messages: keepAll ? messages : prompt, tools };
  table.add(conversation, prompt, {
    // A task has the split of its id, and a time that of all times, which are not known yet.
    splitOf: (id) => (plan.splitBy === 'time' ? 0 : splitOfName(plan.splitBy === 'user' ? user! : id, plan)),
    digest: digestOf(texts),
    keepAll,
    keep: () => spool.add(JSON.stringify(texts)),
  });
}

/** Bytes; 0 if they are packed, and their number is unknown. */
async function sizeOf(files: readonly string[]): Promise<number> {
  let size = 0;
  for (const file of files) {
    // A member of an archive is no file.
    if (/\.zip(\/|$)/i.test(file)) return 0;
    await requireFile(file);
    if (await isGzip(file)) return 0;
    size += (await stat(file)).size;
  }
  return size;
}

const newline = 10;

interface TextLine {
  text: string;
  /** `data.jsonl, line 3`. */
  place: string;
  /** Whether it is the last line, has no line break and is not JSON, as a crash or a writer leaves it. */
  isHalfWritten: boolean;
}

/**
 * The lines that are not blank. The file may be packed by gzip, or be a member of an archive. Holds one line.
 * @param onBytes Called as bytes are read, after they are unpacked.
 * @throws ToolEnvError `usage.missing_file`, `usage.zip_member`; `usage.broken_file` for a line beyond 64 MiB, a file that is not UTF-8 or not whole.
 */
async function* textLines(
  path: string,
  onBytes: (count: number) => void = () => {},
): AsyncGenerator<TextLine, void, void> {
  let [number, length, isFirst] = [1, 0, true];
  let parts: Uint8Array[] = [];
  const place = () => `${path}, line ${number}`;
  try {
    for await (const chunk of fileBytes(path)) {
      if (isFirst) refuseUtf16(chunk, path);
      isFirst = false;
      let start = 0;
      for (let end = chunk.indexOf(newline); end >= 0; end = chunk.indexOf(newline, start)) {
        const text = decode([...parts, chunk.subarray(start, end)], place());
        if (text.trim() !== '') yield { text, place: place(), isHalfWritten: false };
        [parts, length, start] = [[], 0, end + 1];
        number += 1;
      }
      parts.push(chunk.subarray(start));
      length += chunk.length - start;
      if (length > maxObjectLength) {
        const message = `${place()} does not end within 64 MiB: give a file of JSON lines.`;
        throw new ToolEnvError('usage.broken_file', message);
      }
      onBytes(chunk.length);
    }
  } catch (error) {
    throw readFailure(path, `at line ${number}`, error);
  }
  const text = Buffer.concat(parts).toString();
  if (text.trim() === '') return;
  // The writer may be in the middle of a character.
  const isHalfWritten = tryJson(text) === undefined;
  yield { text: isHalfWritten ? text : decode(parts, place()), place: place(), isHalfWritten };
}
