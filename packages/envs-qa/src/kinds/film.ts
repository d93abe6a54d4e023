/** Sentences and questions about each film. */
import type { Kind } from '../entity.ts';

export const film: Kind = {
  noun: 'film',
  share: 0.14,
  relations: {
    director: {
      target: 'person',
      phrases: ['the director of {x}', 'the person who directed {x}'],
      questions: ['Who directed {x}?', 'Who was the director of {x}?', 'Which person directed {x}?'],
      same: ['Were {a} and {b} directed by the same person?'],
    },
    studio: {
      target: 'company',
      phrases: ['the company that produced {x}', 'the producer of {x}'],
      questions: ['Which company produced {x}?', 'Who produced {x}?', 'Who is the producer of {x}?'],
      same: ['Were {a} and {b} produced by the same company?'],
    },
    place: {
      target: 'city',
      phrases: ['the city where {x} was filmed'],
      questions: ['Which city was {x} filmed in?', 'In which city was {x} filmed?', 'Where was {x} filmed?'],
      same: ['Were {a} and {b} filmed in the same city?'],
    },
    source: {
      target: 'book',
      phrases: ['the book that {x} is based on', 'the source of {x}'],
      questions: ['Which book is {x} based on?', 'What is the source of {x}?'],
    },
  },
  sentences: [
    [
      '{self} is a {year} film directed by {director}.',
      '{self} is a film of {year} directed by {director}.',
      '{director} directed {self}, a film released in {year}.',
      'Directed by {director}, the film {self} was released in {year}.',
    ],
    [
      'It was filmed in {place} and produced by {studio}.',
      '{studio} produced it, and it was filmed in {place}.',
      'Its producer was {studio}, and it was filmed in {place}.',
    ],
    [
      'It is based on the book {source}.',
      'The book {source} is its source.',
      'It is based on {source}, not {rival}.',
      'Its source, {source}, is about {trait}.',
    ],
  ],
  traits: ['music', 'ships', 'horses', 'gardens', 'gold'],
  byYear: {
    earlier: ['Which film was released first, {a} or {b}?', 'Which film was released earlier, {a} or {b}?'],
    later: ['Which film was released later, {a} or {b}?', 'Which film is younger, {a} or {b}?'],
  },
  byTargetYear: {
    relation: 'director',
    earlier: [
      'Which film has the director who was born first, {a} or {b}?',
      'Which film has the older director, {a} or {b}?',
    ],
    later: [
      'Which film has the director who was born later, {a} or {b}?',
      'Which film has the younger director, {a} or {b}?',
    ],
  },
};
