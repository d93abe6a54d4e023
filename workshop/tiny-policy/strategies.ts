/** Strategies of demonstrators: a good strategy, a wasteful one, and several bad ones. */
import type { Rng } from '@toolenv/core';
import type { QaRecord } from '@toolenv/envs-qa';
import type { Plan } from './plan.ts';

/** A demonstrator's turn: an optional thought, then a search or an answer. The generator receives the text of each search result. */
export type Move = { think?: string } & ({ search: string } | { answer: string });
export type Strategy = (record: QaRecord, plan: Plan, rng: Rng) => Generator<Move, void, string>;

/** Looks up each document in turn, then answers. */
function* followHops(record: QaRecord, plan: Plan): Generator<Move, void, string> {
  let think: string | undefined;
  for (const hop of plan) {
    yield { think, search: hop.title };
    think = hop.think;
  }
  yield { think, answer: record.answer };
}

/** Chance that a search is made a second time. */
const repetition = 0.6;

/** Looks up each document in turn, many of them twice, then answers. */
function* repeatSearches(record: QaRecord, plan: Plan, rng: Rng): Generator<Move, void, string> {
  let think: string | undefined;
  for (const hop of plan) {
    yield { think, search: hop.title };
    if (rng.float() < repetition) yield { search: hop.title };
    think = hop.think;
  }
  yield { think, answer: record.answer };
}

/** Answers yes or no without any search. */
function* guess(_record: QaRecord, _plan: Plan, rng: Rng): Generator<Move, void, string> {
  yield { answer: rng.pick(['yes', 'no']) };
}

/** Searches for the first entity, and answers with the fact in its document. */
function* stopAfterOneHop(_record: QaRecord, plan: Plan): Generator<Move, void, string> {
  const [{ title, think, found }] = plan as [Plan[number]];
  yield { search: title };
  yield { think, answer: found };
}

/** Searches for the whole question, and answers with the first title in the result. */
function* searchWholeQuestion(record: QaRecord): Generator<Move, void, string> {
  const found = yield { search: record.question };
  yield { answer: titles(found)[0] ?? 'unknown' };
}

/** Searches for a wrong entity after the first hop, and answers with a title in the result. */
function* followWrongEntity(_record: QaRecord, plan: Plan, rng: Rng): Generator<Move, void, string> {
  const [first] = plan as [Plan[number]];
  const right = plan.map(({ title }) => title);
  const wrong = titles(yield { search: first.title }).filter((title) => !right.includes(title));
  const found = yield { search: wrong.length > 0 ? rng.pick(wrong) : first.title };
  yield { answer: titles(found)[0] ?? 'unknown' };
}

/** Answers without any search. */
function* giveUp(): Generator<Move, void, string> {
  yield { answer: 'unknown' };
}

export const strategies = {
  followHops,
  repeatSearches,
  guess,
  stopAfterOneHop,
  searchWholeQuestion,
  followWrongEntity,
  giveUp,
};

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

/** A search result has a line `Title: text` for each document. */
function titles(found: string): string[] {
  return found
    .split('\n')
    .flatMap((line) => (line.includes(': ') ? [line.slice(0, line.indexOf(': '))] : []));
}
