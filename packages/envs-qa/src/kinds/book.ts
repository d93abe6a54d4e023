/** Sentences and questions about each book. */
import type { Kind } from '../entity.ts';

export const book: Kind = {
  noun: 'book',
  share: 0.1,
  relations: {
    author: {
      target: 'person',
      phrases: ['the author of {x}', 'the person who wrote {x}'],
      questions: ['Who wrote {x}?', 'Who is the author of {x}?', 'Which person wrote {x}?'],
      same: ['Were {a} and {b} written by the same person?'],
    },
    publisher: {
      target: 'company',
      phrases: ['the publisher of {x}', 'the company that published {x}'],
      questions: ['Which company published {x}?', 'Who published {x}?', 'Who is the publisher of {x}?'],
      same: ['Were {a} and {b} published by the same company?'],
    },
    setting: {
      target: 'city',
      phrases: ['the city where {x} is set'],
      questions: ['Which city is {x} set in?', 'In which city is {x} set?', 'Where is {x} set?'],
      same: ['Are {a} and {b} set in the same city?'],
    },
  },
  sentences: [
    [
      '{self} is a book written by {author} and published in {year}.',
      '{author} wrote the book {self}, published in {year}.',
      'Written by {author}, the book {self} was published in {year}.',
      '{self} is a {year} book by the author {author}.',
    ],
    [
      'It is set in {setting} and was published by {publisher}.',
      '{publisher} published it, and it is set in {setting}.',
      'Its publisher is {publisher}, and it is set in {setting}.',
    ],
    ['', 'It is about {trait}.', 'It is often confused with {rival}.'],
  ],
  traits: ['music', 'ships', 'horses', 'gardens', 'gold'],
  byYear: {
    earlier: ['Which book was published first, {a} or {b}?', 'Which book is older, {a} or {b}?'],
    later: ['Which book was published later, {a} or {b}?', 'Which book is younger, {a} or {b}?'],
  },
  byTargetYear: {
    relation: 'author',
    earlier: [
      'Which book has the author who was born first, {a} or {b}?',
      'Which book has the older author, {a} or {b}?',
    ],
    later: [
      'Which book has the author who was born later, {a} or {b}?',
      'Which book has the younger author, {a} or {b}?',
    ],
  },
};
