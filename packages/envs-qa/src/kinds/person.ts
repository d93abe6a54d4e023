/** Sentences and questions about each person. */
import type { Kind } from '../entity.ts';

export const person: Kind = {
  share: 0.33,
  relations: {
    birthplace: {
      target: 'city',
      phrases: ['the city where {x} was born', 'the birthplace of {x}'],
      questions: [
        'Which city was {x} born in?',
        'In which city was {x} born?',
        'Where was {x} born?',
        'What is the birthplace of {x}?',
      ],
      same: ['Were {a} and {b} born in the same city?', 'Is the birthplace of {a} the same as that of {b}?'],
    },
    university: {
      target: 'university',
      phrases: ['the university where {x} studied', 'the university of {x}'],
      questions: [
        'Where did {x} study?',
        'Which university did {x} study at?',
        'At which university did {x} study?',
      ],
      same: [
        'Did {a} and {b} study at the same university?',
        'Is the university of {a} the same as that of {b}?',
      ],
    },
    spouse: {
      target: 'person',
      phrases: ['the spouse of {x}', 'the person married to {x}'],
      questions: ['Who is married to {x}?', 'Who is the spouse of {x}?', 'Which person is married to {x}?'],
    },
    employer: {
      target: 'company',
      phrases: ['the company that {x} works for', 'the employer of {x}'],
      questions: [
        'Which company does {x} work for?',
        'What is the employer of {x}?',
        'Who is the employer of {x}?',
      ],
      same: ['Do {a} and {b} work for the same company?', 'Is the employer of {a} the same as that of {b}?'],
    },
  },
  sentences: [
    [
      '{self} is a {trait} born in {birthplace} in {year}.',
      '{self}, born in {year} in {birthplace}, is a {trait}.',
      'Born in {birthplace} in {year}, {self} is a {trait}.',
      '{self} was born in {year} in {birthplace} and is a {trait}.',
    ],
    [
      '{He} studied at {university} and works for {employer}.',
      '{He} works for {employer} and studied at {university}.',
      '{employer} is {his} employer, and {he} studied at {university}.',
      '{His} university was {university}, and {his} employer is {employer}.',
    ],
    [
      '{He} is married to {spouse}.',
      '{His} spouse is {spouse}.',
      '{spouse} is {his} spouse.',
      '{spouse} is married to {self}.',
      '{spouse}, not {rival}, is {his} spouse.',
    ],
  ],
  traits: ['painter', 'singer', 'writer', 'teacher', 'doctor', 'cook'],
  byYear: {
    earlier: [
      'Who was born first, {a} or {b}?',
      'Who was born earlier, {a} or {b}?',
      'Who is older, {a} or {b}?',
    ],
    later: ['Who was born later, {a} or {b}?', 'Who is younger, {a} or {b}?'],
  },
};
