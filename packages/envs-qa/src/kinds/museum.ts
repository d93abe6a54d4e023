/** What is said of, and asked about, each museum. */
import type { Kind } from '../entity.ts';

export const museum: Kind = {
  noun: 'museum',
  share: 0.03,
  relations: {
    home: {
      target: 'city',
      phrases: ['the city of {x}', 'the home city of {x}'],
      questions: ['Which city is {x} in?', 'In which city is {x}?', 'What is the home city of {x}?'],
      same: ['Are {a} and {b} in the same city?'],
    },
    architect: {
      target: 'person',
      phrases: ['the architect of {x}', 'the person who designed {x}'],
      questions: ['Who designed {x}?', 'Who was the architect of {x}?', 'Which person designed {x}?'],
    },
    leader: {
      target: 'person',
      phrases: ['the leader of {x}', 'the person who leads {x}'],
      questions: ['Who leads {x}?', 'Who is the leader of {x}?', 'Which person leads {x}?'],
    },
  },
  sentences: [
    [
      '{self} is a museum in {home}, founded in {year}.',
      'Founded in {year}, {self} is a museum in {home}.',
      'The museum {self} was founded in {home} in {year}.',
    ],
    [
      'It was designed by {architect} and is led by {leader}.',
      'Its architect was {architect}, and its leader is {leader}.',
      '{leader} leads it, and {architect} designed it.',
    ],
    ['', 'It is known for {trait}.', 'It is older than {rival}.', 'It is often confused with {rival}.'],
  ],
  traits: ['music', 'silk', 'clocks', 'paper', 'glass', 'gold'],
  byYear: {
    earlier: ['Which museum was founded first, {a} or {b}?', 'Which museum is older, {a} or {b}?'],
    later: ['Which museum was founded later, {a} or {b}?', 'Which museum is younger, {a} or {b}?'],
  },
};
