/** A question with its answer, its supporting facts and its paragraphs: the fields of HotpotQA, and those that other datasets add. */

/** What an episode is about. */
export interface QaTask {
  _id: string;
  question: string;
  answer: string;
  /** Other answers that the official script accepts. */
  aliases?: string[];
  /** HotpotQA: `bridge` or `comparison`; other families use their own names. */
  type: string;
  /** HotpotQA: `easy`, `medium` or `hard`. */
  level: string;
  /** The sentences that answer the question, in the order of the hops. Sentences are counted from 0. */
  supporting_facts: [title: string, sentence: number][];
  /** MuSiQue: the paragraphs that answer the question, because several paragraphs have the title of their article. */
  supporting_paragraphs?: [title: string, text: string][];
  /** 2WikiMultihopQA: the facts as triples. */
  evidences?: [subject: string, relation: string, object: string][];
  /** 2WikiMultihopQA: Wikidata ids of the facts. */
  evidences_id?: [subject: string, relation: string, object: string][];
  /** 2WikiMultihopQA: Wikidata id of the answer. */
  answer_id?: string | null;
  /** 2WikiMultihopQA: Wikidata ids of the paragraphs. */
  entity_ids?: string;
  /** MuSiQue: the questions of which this is composed. */
  question_decomposition?: QuestionHop[];
  /** MuSiQue: whether the context answers the question. */
  answerable?: boolean;
  /** The paragraphs of the record, where the search covers only them. */
  context?: [title: string, sentences: string[]][];
}

/** One hop of a question of MuSiQue. */
export interface QuestionHop {
  /** `#1` stands for the answer of the first hop. */
  question: string;
  answer: string;
  /** `idx` of its paragraph; `null` if the context lacks it. */
  paragraph_support_idx: number | null;
}

export interface QaRecord extends QaTask {
  /** Supporting paragraphs and others. */
  context: [title: string, sentences: string[]][];
}

/** A document for the search tool. */
export interface QaDocument {
  title: string;
  text: string;
}

/** The distinct titles of the supporting facts, in the order of the hops. */
export function goldTitles({ supporting_facts }: QaTask): string[] {
  return [...new Set(supporting_facts.map(([title]) => title))];
}

/** A paragraph as one text. Sentences in the official files may or may not begin with a space. */
export function joinSentences(sentences: readonly string[]): string {
  return sentences
    .map((sentence) => sentence.trim())
    .filter(Boolean)
    .join(' ');
}

/** The paragraphs of all contexts, each once, since an article may be in many contexts. */
export function documentsOf(records: Iterable<QaRecord>): QaDocument[] {
  const texts = new Map<string, Set<string>>();
  for (const { context } of records) {
    for (const [title, sentences] of context) {
      const known = texts.get(title) ?? new Set();
      texts.set(title, known.add(joinSentences(sentences)));
    }
  }
  return Array.from(texts, ([title, known]) => Array.from(known, (text) => ({ title, text }))).flat();
}
