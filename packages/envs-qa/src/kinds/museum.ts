/** Sentences and questions about each museum. */
import type { Kind } from '../entity.ts';
import { home, leader } from './shared-relations.ts';

export const museum: Kind = {
  noun: 'museum',
  share: 0.03,
  relations: {
    home,
    architect: {
      target: 'person',
      phrases: ['the architect of {x}', 'the person who designed {x}'],
      questions: ['Who designed {x}?', 'Who was the architect of {x}?', 'Which person designed {x}?'],
    },
    leader,
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
