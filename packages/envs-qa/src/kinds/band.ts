/** Sentences and questions about each band. */
import type { Kind } from '../entity.ts';

export const band: Kind = {
  noun: 'band',
  share: 0.06,
  relations: {
    singer: {
      target: 'person',
      phrases: ['the singer of {x}', 'the person who sings in {x}'],
      questions: ['Who sings in {x}?', 'Who is the singer of {x}?', 'Which person sings in {x}?'],
    },
    home: {
      target: 'city',
      phrases: ['the city where {x} was formed', 'the home city of {x}'],
      questions: ['Which city was {x} formed in?', 'Where was {x} formed?', 'What is the home city of {x}?'],
      same: ['Were {a} and {b} formed in the same city?'],
    },
    label: {
      target: 'company',
      phrases: ['the company that signed {x}'],
      questions: ['Which company signed {x}?', 'Who signed {x}?'],
      same: ['Were {a} and {b} signed by the same company?'],
    },
  },
  sentences: [
    [
      '{self} is a band formed in {home} in {year}.',
      'Formed in {year} in {home}, {self} is a band.',
      'The band {self} was formed in {home} in {year}.',
    ],
    [
      '{singer} sings in it, and {label} signed it.',
      'Its singer is {singer}, and it was signed by {label}.',
      '{label} signed it, and its singer is {singer}.',
    ],
    ['', 'It is known for music about {trait}.', 'It is often confused with {rival}.'],
  ],
  traits: ['ships', 'horses', 'gardens', 'gold', 'silk'],
  byYear: {
    earlier: ['Which band was formed first, {a} or {b}?', 'Which band is older, {a} or {b}?'],
    later: ['Which band was formed later, {a} or {b}?', 'Which band is younger, {a} or {b}?'],
  },
  byTargetYear: {
    relation: 'singer',
    earlier: ['Which band has the older singer, {a} or {b}?'],
    later: ['Which band has the younger singer, {a} or {b}?'],
  },
};
