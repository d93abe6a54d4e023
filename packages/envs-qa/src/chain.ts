/** Chains: walks along relations, told as one question whose middle entities have no name. */
import type { Rng } from '@toolenv/core';
import { textOf } from './document.ts';
import type { Entity, KindName, Relation } from './entity.ts';
import { kinds } from './kinds.ts';
import type { QuestionDraft } from './question-draft.ts';
import { fill } from './template.ts';

/** A walk from `entities[0]`: `relations[i]` leads from `entities[i]` to `entities[i + 1]`, which is named in its document. */
export interface Chain {
  readonly entities: readonly Entity[];
  readonly relations: readonly string[];
}

/** Every sequence of `hops` relations that fit together, with the kind it starts from. */
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

/** The walk from `start`, or undefined if it turns back or if the answer is told before its last document. */
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

/** The question for the chain's last entity, and what supports it. */
export function askChain({ entities, relations }: Chain, rng: Rng): QuestionDraft {
  const path = relations.map((name, i) => relationOf(entities[i]!, name));
  let subject = nameWithKind(entities[0]!, rng);
  for (const relation of path.slice(0, -1)) subject = fill(rng.pick(relation.phrases), { x: subject });
  return {
    question: fill(rng.pick(path.at(-1)!.questions), { x: subject }),
    answer: entities.at(-1)!.name,
    facts: relations.map((name, i) => ({ document: entities[i]!.document, fact: name })),
  };
}

/** The entity's name, or, as often, its kind and name. */
export function nameWithKind({ kind, name }: Entity, rng: Rng): string {
  const { noun } = kinds[kind];
  return noun && rng.float() < 0.5 ? `the ${noun} ${name}` : name;
}

function relationOf(entity: Entity, name: string): Relation {
  return kinds[entity.kind].relations[name]!;
}
