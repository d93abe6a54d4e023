/** Sentences and questions about each city. */
import type { Kind } from '../entity.ts';

export const city: Kind = {
  noun: 'city',
  share: 0.12,
  relations: {
    river: {
      target: 'river',
      phrases: ['the river that flows through {x}', 'the river of {x}'],
      questions: ['Which river flows through {x}?', 'What is the river of {x}?'],
      same: ['Are {a} and {b} on the same river?'],
    },
    mountain: {
      target: 'mountain',
      phrases: ['the mountain above {x}', 'the mountain that stands above {x}'],
      questions: ['Which mountain stands above {x}?', 'What is the mountain above {x}?'],
      same: ['Are {a} and {b} below the same mountain?'],
    },
    mayor: {
      target: 'person',
      phrases: ['the mayor of {x}'],
      questions: ['Who is the mayor of {x}?', 'Which person is the mayor of {x}?'],
    },
  },
  sentences: [
    [
      '{self} is a city on the river {river}.',
      'The river {river} flows through the city {self}.',
      '{self} is a city, and the river {river} flows through it.',
    ],
    [
      'The mountain {mountain} stands above it, and its mayor is {mayor}.',
      'Its mayor is {mayor}, and the mountain {mountain} stands above it.',
      '{mayor} is its mayor, and it is below the mountain {mountain}.',
    ],
    ['', 'It is known for {trait}.', 'It is often confused with {rival}.', 'It is older than {rival}.'],
  ],
  traits: ['glass', 'bread', 'silk', 'clocks', 'gardens', 'music', 'horses', 'gold'],
};
