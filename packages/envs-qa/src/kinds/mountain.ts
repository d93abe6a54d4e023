/** Sentences and questions about each mountain. */
import type { Kind } from '../entity.ts';

export const mountain: Kind = {
  noun: 'mountain',
  share: 0.04,
  relations: {
    city: {
      target: 'city',
      phrases: ['the city near {x}'],
      questions: ['Which city is near {x}?', 'What is the city near {x}?'],
      same: ['Are {a} and {b} near the same city?'],
    },
    climber: {
      target: 'person',
      phrases: ['the person who first climbed {x}'],
      questions: ['Who first climbed {x}?', 'Which person first climbed {x}?'],
    },
  },
  sentences: [
    [
      '{self} is a mountain near {city}, first mapped in {year}.',
      '{self}, first mapped in {year}, is a mountain near {city}.',
      'The mountain {self} is near {city} and was first mapped in {year}.',
    ],
    [
      '{climber} first climbed it.',
      'It was first climbed by {climber}.',
      'The person who first climbed it was {climber}.',
    ],
    ['It is known for {trait}.', 'It is often confused with {rival}.'],
  ],
  traits: ['gold', 'horses', 'gardens', 'glass'],
  byYear: {
    earlier: [
      'Which mountain was mapped first, {a} or {b}?',
      'Which mountain was mapped earlier, {a} or {b}?',
    ],
    later: ['Which mountain was mapped later, {a} or {b}?'],
  },
};
