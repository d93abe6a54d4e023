/** Sentences and questions about each company. */
import type { Kind } from '../entity.ts';
import { founder, leader } from './shared-relations.ts';

export const company: Kind = {
  noun: 'company',
  share: 0.1,
  relations: {
    founder,
    leader,
    seat: {
      target: 'city',
      phrases: ['the city where {x} is based', 'the home city of {x}'],
      questions: [
        'Which city is {x} based in?',
        'In which city is {x} based?',
        'What is the home city of {x}?',
      ],
      same: ['Are {a} and {b} based in the same city?'],
    },
  },
  sentences: [
    [
      '{self} is a company founded by {founder} in {year}.',
      '{founder} founded the company {self} in {year}.',
      'Founded in {year} by {founder}, {self} is a company.',
      'The founder of the company {self}, {founder}, founded it in {year}.',
    ],
    [
      'It is based in {seat} and known for {trait}.',
      'Known for {trait}, it is based in {seat}.',
      'Its home city is {seat}, and it is known for {trait}.',
    ],
    ['It is led by {leader}.', '{leader} leads it.', 'Its leader is {leader}, not {rival}.'],
  ],
  traits: ['glass', 'bread', 'ships', 'silk', 'clocks', 'paper'],
  byYear: {
    earlier: ['Which company was founded first, {a} or {b}?', 'Which company is older, {a} or {b}?'],
    later: ['Which company was founded later, {a} or {b}?', 'Which company is younger, {a} or {b}?'],
  },
};
