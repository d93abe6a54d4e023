/** What is said of, and asked about, each university. */
import type { Kind } from '../entity.ts';

export const university: Kind = {
  noun: 'university',
  share: 0.04,
  relations: {
    home: {
      target: 'city',
      phrases: ['the city of {x}', 'the home city of {x}'],
      questions: ['Which city is {x} in?', 'In which city is {x}?', 'What is the home city of {x}?'],
      same: ['Are {a} and {b} in the same city?'],
    },
    founder: {
      target: 'person',
      phrases: ['the founder of {x}', 'the person who founded {x}'],
      questions: ['Who founded {x}?', 'Who was the founder of {x}?', 'Which person founded {x}?'],
    },
    leader: {
      target: 'person',
      phrases: ['the leader of {x}', 'the person who leads {x}'],
      questions: ['Who leads {x}?', 'Who is the leader of {x}?', 'Which person leads {x}?'],
    },
  },
  sentences: [
    [
      '{self} is a university in {home}, founded in {year}.',
      'Founded in {year}, {self} is a university in {home}.',
      'The university {self} was founded in {home} in {year}.',
    ],
    [
      'It was founded by {founder} and is led by {leader}.',
      'Its founder was {founder}, and its leader is {leader}.',
      '{leader} leads it, and {founder} founded it.',
    ],
    ['', 'It is known for {trait}.', 'It is older than {rival}.', 'It is often confused with {rival}.'],
  ],
  traits: ['music', 'gardens', 'clocks', 'paper', 'glass'],
  byYear: {
    earlier: ['Which university was founded first, {a} or {b}?', 'Which university is older, {a} or {b}?'],
    later: ['Which university was founded later, {a} or {b}?', 'Which university is younger, {a} or {b}?'],
  },
};
