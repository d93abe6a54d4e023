/** Passage: a piece of a corpus that is found and shown as a whole. */

export interface Passage {
  /** Unique in its corpus. */
  id: string;
  /** May be empty. */
  title: string;
  text: string;
}
