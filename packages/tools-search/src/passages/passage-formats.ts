/** The formats of a line of a corpus: JSONL of one's own, BEIR, KILT and the Wikipedia dump of Search-R1. */
import { isObject } from '@toolenv/core/schemas';
import type { SearchDocument } from '../document.ts';

/** A piece of a corpus that is found and shown as a whole. Its title may be empty; its id is unique in its corpus. */
export type Passage = SearchDocument & { id: string };

export type PassageFormat = 'jsonl' | 'beir' | 'kilt' | 'search-r1';

type Line = Readonly<Record<string, unknown>>;

/** Reads the passages of a line. `undefined`: the line is not of this format. */
type Reader = (line: Line, index: number) => Passage[] | undefined;

/** The fields of each format, for errors. */
export const formatFields: Readonly<Record<PassageFormat, string>> = {
  jsonl: '"text", and maybe "id" and "title"',
  beir: '"_id" and "text", and maybe "title"',
  kilt: '"_id", "wikipedia_title" and a list of paragraphs "text"',
  'search-r1': '"id" and "contents", whose first line is the title in quotes',
};

const readers: Readonly<Record<PassageFormat, Reader>> = {
  jsonl: ({ id, title = '', text }, index) => {
    const name = id === undefined ? String(index) : idOf(id);
    return name !== undefined && isText(title) && isText(text) ? [{ id: name, title, text }] : undefined;
  },
  /** BEIR's `corpus.jsonl`. */
  beir: ({ _id, title = '', text }) => {
    const id = idOf(_id);
    return id !== undefined && isText(title) && isText(text) ? [{ id, title, text }] : undefined;
  },
  /** KILT's knowledge source: an article with its paragraphs. The title and the headings of sections are no passages. */
  kilt: ({ _id, wikipedia_title: title, text: paragraphs }) => {
    const id = idOf(_id);
    if (id === undefined || !isText(title) || !Array.isArray(paragraphs) || !paragraphs.every(isText))
      return undefined;
    return paragraphs.flatMap((paragraph, number) => {
      const text = paragraph.trim();
      const isHeading = text === '' || text === title || text.startsWith('Section::::');
      return isHeading ? [] : [{ id: `${id}-${number}`, title, text }];
    });
  },
  /** `wiki-18.jsonl`: a passage of 100 words, with its title in quotes as the first line. */
  'search-r1': ({ id: given, contents }) => {
    const id = idOf(given);
    if (id === undefined || !isText(contents)) return undefined;
    const [first = '', ...rest] = contents.split('\n');
    return [{ id, title: first.replaceAll(/^"+|"+$/g, ''), text: rest.join('\n') }];
  },
};

/** The passages of a line; `undefined` if the line is not of the format. @param index Counts the lines from 0. */
export function readLine(format: PassageFormat, line: unknown, index: number): Passage[] | undefined {
  return isObject(line) ? readers[format](line, index) : undefined;
}

/** The format that a line has; `undefined` for none. */
export function formatOfLine(line: unknown): PassageFormat | undefined {
  if (!isObject(line)) return undefined;
  const format =
    'contents' in line ? 'search-r1' : 'wikipedia_title' in line ? 'kilt' : '_id' in line ? 'beir' : 'jsonl';
  return readers[format](line, 0) ? format : undefined;
}

function idOf(value: unknown): string | undefined {
  if (isText(value) && value !== '') return value;
  return typeof value === 'number' ? String(value) : undefined;
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}
