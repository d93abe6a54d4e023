/** The documents that answer a question, and whether a search has shown them. */
import { goldTitles, type QaTask } from './qa-record.ts';

export interface GoldDocument {
  title: string;
  /** How its text begins, where several documents have the title. */
  opening?: string;
}

/** Characters of a text that tell it from others with its title. */
const openingLength = 80;

/** In the order of the hops. Empty if the data names none. */
export function goldDocuments(task: QaTask): GoldDocument[] {
  const { supporting_paragraphs: paragraphs } = task;
  if (!paragraphs) return goldTitles(task).map((title) => ({ title }));
  return paragraphs.map(([title, text]) => ({
    title,
    opening: text.trim().replaceAll(/\s+/g, ' ').slice(0, openingLength).trim(),
  }));
}

/** Whether the model read the document's line. A document that was cut from a long result does not count as found. */
export function shows(result: string, { title, opening = '' }: GoldDocument): boolean {
  const line = `${title}: ${opening}`;
  return result.startsWith(line) || result.includes(`\n${line}`);
}
