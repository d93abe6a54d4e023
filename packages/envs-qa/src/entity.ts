/** Entities of a world, and the templates of each kind of entity. */

export type KindName =
  | 'person'
  | 'film'
  | 'book'
  | 'company'
  | 'city'
  | 'band'
  | 'university'
  | 'river'
  | 'mountain'
  | 'museum';

/** A functional relation: each entity of the kind has exactly one target, which its document names. */
export interface Relation {
  readonly target: KindName;
  /** Noun phrases for the target of a subject `{x}`, which is a name or another such phrase. */
  readonly phrases: readonly string[];
  /** Questions for the target of a subject `{x}`. */
  readonly questions: readonly string[];
  /** Yes/no questions whether `{a}` and `{b}` have the same target. */
  readonly same?: readonly string[];
}

/** Questions that ask which of `{a}` and `{b}`, or which target by the relation, has the earlier or the later year. */
export interface YearQuestions {
  readonly relation?: string;
  readonly earlier: readonly string[];
  readonly later: readonly string[];
}

/**
 * A kind of entity. A document has one template of each group of `sentences`, in order; an empty template gives no
 * sentence. Slots: `{self}`, `{year}`, the names of relations, `{trait}`, `{rival}` (another entity, mentioned in passing),
 * and `{he}`, `{He}`, `{his}`, `{His}`.
 */
export interface Kind {
  /** The noun in front of a name: `the film Silver Harbour`. Absent if the name stands alone. */
  readonly noun?: string;
  /** Fraction of a world's entities. */
  readonly share: number;
  readonly relations: Readonly<Record<string, Relation>>;
  readonly sentences: readonly (readonly string[])[];
  readonly traits: readonly string[];
  readonly byYear?: YearQuestions;
  readonly byTargetYear?: YearQuestions;
}

export interface Entity {
  readonly kind: KindName;
  readonly name: string;
  readonly year: number;
  readonly trait: string;
  readonly gender: 'he' | 'she';
  /** Relation → target. */
  readonly links: Record<string, Entity>;
  /** An entity that is not a target. Its name usually shares a word with this entity's name. */
  rival: Entity;
  document: EntityDocument;
}

/** A document of a few sentences about one entity. */
export interface EntityDocument {
  readonly title: string;
  readonly sentences: readonly string[];
  /** Slot (a relation or `year`) → index of the sentence that states it. */
  readonly factSentence: Readonly<Record<string, number>>;
}
