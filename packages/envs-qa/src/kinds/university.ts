/** Sentences and questions about each university. */
import type { Kind } from '../entity.ts';
import { founder, home, leader } from './shared-relations.ts';

export const university: Kind = {
  noun: 'university',
  share: 0.04,
  relations: { home, founder, leader },
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
