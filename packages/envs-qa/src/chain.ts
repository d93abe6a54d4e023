/** Chains: walks along relations, phrased as one question that does not name the entities between. */
import type { Rng } from '@toolenv/core';
import { textOf } from './document.ts';
import type { Entity, KindName } from './entity.ts';
import { kinds } from './kinds.ts';
import type { QuestionDraft } from './question-draft.ts';
import { fill } from './template.ts';
import type { WorldPart } from './world.ts';

/** A walk from `entities[0]`. `relations[i]` leads from `entities[i]`, whose document names the target, to `entities[i + 1]`. */
export interface Chain {
  readonly entities: readonly Entity[];
  readonly relations: readonly string[];
}

/** Every sequence of `hops` relations that can follow each other, with the kind of its first entity. */
export function relationPaths(hops: number): { start: KindName; relations: string[] }[] {
  const from = (kind: KindName, length: number): string[][] =>
    length === 0
      ? [[]]
      : Object.entries(kinds[kind].relations).flatMap(([name, { target }]) =>
          from(target, length - 1).map((rest) => [name, ...rest]),
        );
  return (Object.keys(kinds) as KindName[]).flatMap((start) =>
    from(start, hops).map((relations) => ({ start, relations })),
  );
}

/** The walk from `start`; `undefined` if it visits an entity twice or if an earlier document contains the answer. */
export function walk(start: Entity, relations: readonly string[]): Chain | undefined {
  const entities = [start];
  for (const relation of relations) {
    const next = entities.at(-1)!.links[relation]!;
    if (entities.includes(next)) return undefined;
    entities.push(next);
  }
  const answer = entities.at(-1)!;
  const early = entities.slice(0, -2);
  return early.some(({ document }) => textOf(document).includes(answer.name))
    ? undefined
    : { entities, relations };
}

/**
 * Draws walks. The numbers of hops are taken in turn, and every sequence of relations is drawn equally often.
 * @returns `undefined` as {@link walk} does.
 */
export function chainsOf(
  hops: readonly number[],
): (part: WorldPart, number: number, rng: Rng) => Chain | undefined {
  const paths = hops.map(relationPaths);
  return (part, number, rng) => {
    const { start, relations } = rng.pick(paths[number % paths.length]!);
    return walk(rng.pick(part.ofKind[start]), relations);
  };
}

/** The question for the chain's last entity, and its supporting facts. */
export function askChain(chain: Chain, rng: Rng): QuestionDraft {
  const { entities, relations } = chain;
  const subject = subjectOf(chain, rng);
  const { questions } = kinds[entities.at(-2)!.kind].relations[relations.at(-1)!]!;
  return {
    question: fill(rng.pick(questions), { x: subject }),
    answer: entities.at(-1)!.name,
    facts: factsOf(chain),
  };
}

/** What the documents say of each step. */
export function factsOf({ entities, relations }: Chain): QuestionDraft['facts'] {
  return relations.map((name, i) => ({ document: entities[i]!.document, fact: name }));
}

/** The last entity but one, by its name if it is the first, or else as what the first entity leads to. */
export function subjectOf({ entities, relations }: Chain, rng: Rng): string {
  let subject = nameWithKind(entities[0]!, rng);
  for (const [i, name] of relations.slice(0, -1).entries())
    subject = fill(rng.pick(kinds[entities[i]!.kind].relations[name]!.phrases), { x: subject });
  return subject;
}

/** The entity's name, in half of the cases with its kind. */
export function nameWithKind({ kind, name }: Entity, rng: Rng): string {
  const { noun } = kinds[kind];
  return noun && rng.float() < 0.5 ? `the ${noun} ${name}` : name;
}
