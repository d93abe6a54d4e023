/** Comparison questions, which need two or four documents, as in HotpotQA and 2WikiMultihopQA (arXiv 2011.01060). */
import type { Rng } from '@toolenv/core';
import { nameWithKind } from './chain.ts';
import type { Entity, KindName } from './entity.ts';
import { kindNames, kinds } from './kinds.ts';
import type { QuestionDraft } from './question-draft.ts';
import type { QuestionFamily } from './question-set.ts';
import { fill } from './template.ts';
import type { WorldPart } from './world.ts';

const withYear = kindNames.filter((name) => kinds[name].byYear);
const withTargetYear = kindNames.filter((name) => kinds[name].byTargetYear);

/** Relations for yes/no questions. */
const shared = kindNames.flatMap((kind) => relationsWithSame(kind).map((relation) => ({ kind, relation })));
/** Relations of targets for yes/no questions: were the director of A and the director of B born in … */
const sharedByTargets = kindNames.flatMap((kind) =>
  Object.entries(kinds[kind].relations)
    .filter(([via]) => kinds[kind].byTargetYear?.relation === via)
    .flatMap(([via, { target }]) => relationsWithSame(target).map((relation) => ({ kind, via, relation }))),
);

/**
 * Draws four sorts in turn: which is earlier, yes/no, which has the earlier target, yes/no about the targets. In half of
 * the questions of each sort, the answer is the first entity, or yes.
 */
export const comparisonQuestions: QuestionFamily = {
  type: 'comparison',
  draw(part, number, rng) {
    const wanted = number % 8 < 4;
    const sort = number % 4;
    if (sort === 0) return whichYear(part, wanted, rng);
    if (sort === 1) return sameTarget(part, wanted, rng);
    return sort === 2 ? whichTargetYear(part, wanted, rng) : sameTargetOfTargets(part, wanted, rng);
  },
};

/** Asks which of two entities has the earlier or later year. `firstWins`: the answer is the entity named first. */
function whichYear(part: WorldPart, firstWins: boolean, rng: Rng): QuestionDraft | undefined {
  const kind = rng.pick(withYear);
  const [a, b] = pickTwo(part.ofKind[kind], rng);
  if (a.year === b.year) return undefined;
  const earlier = rng.float() < 0.5;
  const [first, second] = a.year < b.year === (earlier === firstWins) ? [a, b] : [b, a];
  const questions = kinds[kind].byYear!;
  return {
    question: fill(rng.pick(earlier ? questions.earlier : questions.later), {
      a: first.name,
      b: second.name,
    }),
    answer: (firstWins ? first : second).name,
    facts: [first, second].map(({ document }) => ({ document, fact: 'year' })),
  };
}

function whichTargetYear(part: WorldPart, firstWins: boolean, rng: Rng): QuestionDraft | undefined {
  const kind = rng.pick(withTargetYear);
  const { relation, ...questions } = kinds[kind].byTargetYear!;
  const [a, b] = pickTwo(part.ofKind[kind], rng);
  const [targetA, targetB] = [a.links[relation]!, b.links[relation]!];
  if (targetA.year === targetB.year) return undefined;
  const earlier = rng.float() < 0.5;
  const [first, second] = targetA.year < targetB.year === (earlier === firstWins) ? [a, b] : [b, a];
  return {
    question: fill(rng.pick(earlier ? questions.earlier : questions.later), {
      a: first.name,
      b: second.name,
    }),
    answer: (firstWins ? first : second).name,
    facts: [first, second].flatMap((entity) => [
      { document: entity.document, fact: relation },
      { document: entity.links[relation]!.document, fact: 'year' },
    ]),
  };
}

/** Asks whether two entities have the same target. `yes`: they have. */
function sameTarget(part: WorldPart, yes: boolean, rng: Rng): QuestionDraft | undefined {
  const { kind, relation } = rng.pick(shared);
  const a = rng.pick(part.ofKind[kind]);
  const b = rng.pick(
    part.ofKind[kind].filter((other) => matches(a, other, (entity) => entity.links[relation]!, yes)),
  );
  if (!b) return undefined;
  return {
    question: fill(rng.pick(kinds[kind].relations[relation]!.same!), {
      a: nameWithKind(a, rng),
      b: nameWithKind(b, rng),
    }),
    answer: yes ? 'yes' : 'no',
    facts: [a, b].map(({ document }) => ({ document, fact: relation })),
  };
}

function sameTargetOfTargets(part: WorldPart, yes: boolean, rng: Rng): QuestionDraft | undefined {
  const { kind, via, relation } = rng.pick(sharedByTargets);
  const a = rng.pick(part.ofKind[kind]);
  const targetOf = (entity: Entity) => entity.links[via]!.links[relation]!;
  const others = part.ofKind[kind].filter((other) => matches(a, other, targetOf, yes));
  // With the same director, the question could be answered without the last two documents.
  const b = rng.pick(others.filter((other) => other.links[via] !== a.links[via]));
  if (!b) return undefined;
  const { target, phrases } = kinds[kind].relations[via]!;
  const subject = (entity: Entity) => fill(rng.pick(phrases), { x: nameWithKind(entity, rng) });
  return {
    question: fill(rng.pick(kinds[target].relations[relation]!.same!), { a: subject(a), b: subject(b) }),
    answer: yes ? 'yes' : 'no',
    facts: [a, b].flatMap((entity) => [
      { document: entity.document, fact: via },
      { document: entity.links[via]!.document, fact: relation },
    ]),
  };
}

function matches(a: Entity, other: Entity, targetOf: (entity: Entity) => Entity, same: boolean): boolean {
  return other !== a && (targetOf(other) === targetOf(a)) === same;
}

function pickTwo(entities: readonly Entity[], rng: Rng): [Entity, Entity] {
  const i = rng.int(entities.length);
  const j = (i + 1 + rng.int(entities.length - 1)) % entities.length;
  return [entities[i]!, entities[j]!];
}

function relationsWithSame(kind: KindName): string[] {
  return Object.entries(kinds[kind].relations)
    .filter(([, { same }]) => same)
    .map(([name]) => name);
}
