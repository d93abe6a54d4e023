/** RunNotes: what people write about a run. It lies in notes.json beside the records, which stay as they are. */
import { join } from 'node:path';
import { messageOf, ToolEnvError } from '@toolenv/core';
import { readRegular, writeAtomic } from '@toolenv/core/files';
import { tryObject, validate } from '@toolenv/core/schemas';

export interface RunNotes {
  note: string;
  /** Each once. */
  tags: string[];
}

const schema = {
  type: 'object',
  properties: {
    note: { type: 'string', maxLength: 10_000 },
    tags: {
      type: 'array',
      maxItems: 20,
      items: { type: 'string', pattern: '^[^\\s,]{1,40}$' },
    },
  },
  required: ['note', 'tags'],
  additionalProperties: false,
} as const;

/** The last write of each file that is being written. */
const writing = new Map<string, Promise<void>>();

export const notesFile = 'notes.json';

/** `undefined` for a run without notes, or with a file that does not hold any. */
export async function readNotes(folder: string): Promise<RunNotes | undefined> {
  const text = await readRegular(join(folder, notesFile)).catch(() => undefined);
  const notes = text === undefined ? undefined : tryObject(text);
  return notes && validate(schema, notes).length === 0 ? (notes as unknown as RunNotes) : undefined;
}

/** @throws ToolEnvError `usage.notes` for anything but {@link RunNotes}, and if the file cannot be written. */
export async function writeNotes(folder: string, notes: unknown): Promise<void> {
  const [wrong] = validate(schema, notes);
  if (wrong) {
    const message = `Notes are {note, tags}, of at most 10,000 characters and 20 tags of 40 characters without spaces: ${wrong.path}: expected ${wrong.expected}; received ${wrong.received}.`;
    throw new ToolEnvError('usage.notes', message);
  }
  const { note, tags } = notes as RunNotes;
  const text = `${JSON.stringify({ note, tags: [...new Set(tags)] }, null, 2)}\n`;
  const file = join(folder, notesFile);
  // Two tabs may write at once: the last one stays.
  const write = (writing.get(file) ?? Promise.resolve()).then(() => writeAtomic(file, text));
  const done = write.catch(() => {});
  writing.set(file, done);
  try {
    await write;
  } catch (error) {
    const message = `The notes cannot be written to ${folder}: ${messageOf(error)}`;
    throw new ToolEnvError('usage.notes', message, { cause: error });
  } finally {
    if (writing.get(file) === done) writing.delete(file);
  }
}
