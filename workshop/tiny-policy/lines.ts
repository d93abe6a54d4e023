/** The lines of the data files: plain text of which some pieces are learned, and conversations. */
import type { Message, ToolDescription } from '@toolenv/core';

/** The format `segments`, after axolotl's. */
export interface Segments {
  segments: { text: string; label: boolean }[];
}

export interface Conversation {
  messages: Message[];
  tools: ToolDescription[];
}

export type Line = Segments | Conversation;

/** A text in which one part is learned: the last place where `part` occurs. */
export function learnPart(text: string, part: string): Segments['segments'] {
  const start = text.lastIndexOf(part);
  if (start < 0) throw new RangeError(`"${part}" does not occur in "${text}".`);
  return [
    { text: text.slice(0, start), label: false },
    { text: part, label: true },
    { text: text.slice(start + part.length), label: false },
  ].filter((piece) => piece.text !== '');
}
