/** Comparison questions, which need two or four documents, as in HotpotQA and 2WikiMultihopQA (arXiv 2011.01060). */
import type { Rng } from '@toolenv/core';
import { nameWithKind } from './chain.ts';
import type { Entity, KindName } from './entity.ts';
import { kindNames, kinds } from './kinds.ts';
import type { QuestionDraft } from './question-draft.ts';
import type { QuestionFamily } from './question-set.ts';
import { fill } from './template.ts';
import type { WorldPart } from './world.ts';

/** A relation that yes/no questions compare: of the entities themselves, or of their targets by the relation `via`. */
interface Shared {
  kind: KindName;
  via?: string;
  relation: string;
}

const shared: readonly Shared[] = kindNames.flatMap((kind) =>
  relationsWithSame(kind).map((relation) => ({ kind, relation })),
);
/** Were the director of A and the director of B born in … */
const sharedByTargets: readonly Shared[] = kindNames.flatMap((kind) =>
  Object.entries(kinds[kind].relations)
    .filter(([via]) => kinds[kind].byTargetYear?.relation === via)
    .flatMap(([via, { target }]) => relationsWithSame(target).map((relation) => ({ kind, via, relation }))),
);

/** Which of two is earlier or later, and yes or no; of the entities themselves, or of their targets. */
export const comparisonSorts = ['which', 'yes-no', 'which-target', 'yes-no-target'] as const;
export type ComparisonSort = (typeof comparisonSorts)[number];

const drawSort: Readonly<
  Record<ComparisonSort, (part: WorldPart, wanted: boolean, rng: Rng) => QuestionDraft | undefined>
> = {
  which: (part, firstWins, rng) => whichYear(part, firstWins, rng, 'byYear'),
  'yes-no': (part, yes, rng) => sameTarget(part, yes, rng, shared),
  'which-target': (part, firstWins, rng) => whichYear(part, firstWins, rng, 'byTargetYear'),
  'yes-no-target': (part, yes, rng) => sameTarget(part, yes, rng, sharedByTargets),
};

/** Draws the sorts in turn. In half of the questions of each sort, the answer is the first entity, or yes. */
export function comparisonQuestionsOf(sorts: readonly ComparisonSort[]): QuestionFamily {
  return {
    type: 'comparison',
    draw(part, number, rng) {
      const wanted = number % (2 * sorts.length) < sorts.length;
      return drawSort[sorts[number % sorts.length]!](part, wanted, rng);
    },
  };
}

/** All sorts. */
export const comparisonQuestions: QuestionFamily = comparisonQuestionsOf(comparisonSorts);

/** Asks which of two entities, or whose target, has the earlier or later year. `firstWins`: the answer is the entity named first. */
function whichYear(
  part: WorldPart,
  firstWins: boolean,
  rng: Rng,
  by: 'byYear' | 'byTargetYear',
): QuestionDraft | undefined {
  const kind = rng.pick(kindNames.filter((name) => kinds[name][by]));
  const { relation: via, ...questions } = kinds[kind][by]!;
  const [a, b] = pickTwo(part.ofKind[kind], rng);
  const [yearA, yearB] = [step(a, via).year, step(b, via).year];
  if (yearA === yearB) return undefined;
  const earlier = rng.float() < 0.5;
  const [first, second] = yearA < yearB === (earlier === firstWins) ? [a, b] : [b, a];
  return {
    question: fill(rng.pick(questions[earlier ? 'earlier' : 'later']), { a: first.name, b: second.name }),
    answer: (firstWins ? first : second).name,
    facts: [first, second].flatMap((entity) => factsOf(entity, via, 'year')),
  };
}

/** Asks whether two entities, or their targets by the relation `via`, have the same target. `yes`: they have. */
function sameTarget(
  part: WorldPart,
  yes: boolean,
  rng: Rng,
  choices: readonly Shared[],
): QuestionDraft | undefined {
  const { kind, via, relation } = rng.pick(choices);
  const a = rng.pick(part.ofKind[kind]);
  const targetOf = (entity: Entity) => step(entity, via).links[relation]!;
  const others = part.ofKind[kind].filter((other) => (targetOf(other) === targetOf(a)) === yes);
  // With the same director, the question could be answered without the last two documents.
  const b = rng.pick(others.filter((other) => step(other, via) !== step(a, via)));
  if (!b) return undefined;
  const subject = (entity: Entity) =>
    via === undefined
      ? nameWithKind(entity, rng)
      : fill(rng.pick(kinds[kind].relations[via]!.phrases), { x: nameWithKind(entity, rng) });
  const { same } = kinds[step(a, via).kind].relations[relation]!;
  return {
    question: fill(rng.pick(same!), { a: subject(a), b: subject(b) }),
    answer: yes ? 'yes' : 'no',
    facts: [a, b].flatMap((entity) => factsOf(entity, via, relation)),
  };
}

/** The entity itself, or its target by the relation `via`. */
function step(entity: Entity, via: string | undefined): Entity {
  return via === undefined ? entity : entity.links[via]!;
}

function factsOf(entity: Entity, via: string | undefined, fact: string): QuestionDraft['facts'] {
  const last = { document: step(entity, via).document, fact };
  return via === undefined ? [last] : [{ document: entity.document, fact: via }, last];
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
