/** How demonstrators go about a question: one good way, and the ways in which people do it badly. */
import type { Rng } from '@toolenv/core';
import type { QaRecord } from '@toolenv/envs-qa';
import { subQuestions } from './sub-questions.ts';

/** What a demonstrator does in a turn, after what it thinks. After a search it is sent the text that came back. */
export type Move = { think?: string } & ({ search: string } | { answer: string });
export type Strategy = (record: QaRecord, rng: Rng) => Generator<Move, void, string>;

/** Look up what the question names, ask for what it does not name, look that up, and ask what is left. */
function* followHops(record: QaRecord): Generator<Move, void, string> {
  const [first, second] = hops(record);
  const [phrase, rest] = subQuestions(record);
  yield { search: first! };
  yield { think: phrase, search: second! };
  yield { think: rest, answer: record.answer };
}

/** Search the first entity and take the way for the answer. */
function* stopAfterOneHop(record: QaRecord): Generator<Move, void, string> {
  const [first, second] = hops(record);
  const [phrase] = subQuestions(record);
  yield { search: first! };
  yield { think: phrase, answer: second! };
}

/** Search the question as it stands and answer with the first title that comes. */
function* searchWholeQuestion(record: QaRecord): Generator<Move, void, string> {
  const found = yield { search: record.question };
  yield { answer: titles(found)[0] ?? 'unknown' };
}

/** Take the wrong turn after the first hop. */
function* followWrongEntity(record: QaRecord, rng: Rng): Generator<Move, void, string> {
  const [first] = hops(record);
  const wrong = titles(yield { search: first! }).filter((title) => !hops(record).includes(title));
  const found = yield { search: wrong.length > 0 ? rng.pick(wrong) : first! };
  yield { answer: titles(found)[0] ?? 'unknown' };
}

/** Answer without looking anything up. */
function* giveUp(): Generator<Move, void, string> {
  yield { answer: 'unknown' };
}

export const strategies = { followHops, stopAfterOneHop, searchWholeQuestion, followWrongEntity, giveUp };

/** Share of each strategy. */
export type Mix = Partial<Record<keyof typeof strategies, number>>;

export function drawStrategy(mix: Mix, rng: Rng): Strategy {
  let threshold = rng.float() * Object.values(mix).reduce((sum, share) => sum + share, 0);
  for (const [name, share] of Object.entries(mix)) {
    threshold -= share;
    if (threshold < 0) return strategies[name as keyof typeof strategies];
  }
  return followHops;
}

/** Titles of the supporting documents in the order in which they are needed. */
function hops(record: QaRecord): string[] {
  return [...new Set(record.supporting_facts.map(([title]) => title))];
}

/** A search result has a line `Title: text` for each document. */
function titles(found: string): string[] {
  return found
    .split('\n')
    .flatMap((line) => (line.includes(': ') ? [line.slice(0, line.indexOf(': '))] : []));
}
