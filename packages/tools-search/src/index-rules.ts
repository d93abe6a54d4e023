/** What the indexes of `search-v1` agree on: the text of a document, the part of a query that counts, the order of hits, and what they refuse. */
import { ToolEnvError } from '@toolenv/core';
import type { SearchDocument, SearchHit } from './document.ts';

/** Characters of a query that are used. Longer queries come from models that do not stop. */
export const maxQueryLength = 1_000;

/** The title counts three times, so that the document with a name as its title ranks above documents that mention the name. */
export function indexedText({ title, text }: SearchDocument): string {
  return `${title}\n${title}\n${title}\n${text}`;
}

/** @throws ToolEnvError `usage.no_documents` without documents. */
export function checkDocuments({ length }: readonly SearchDocument[]): void {
  if (length > 0) return;
  throw new ToolEnvError('usage.no_documents', 'A search index needs documents: pass at least one.');
}

/** Best first. Ties are ordered by title, then by text, in UTF-16 units, independent of the locale. */
export function byScore(a: SearchHit, b: SearchHit): number {
  return b.score - a.score || compare(a.title, b.title) || compare(a.text, b.text);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
