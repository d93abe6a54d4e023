/** Relations that several kinds of entities have. */
import type { Relation } from '../entity.ts';

export const home: Relation = {
  target: 'city',
  phrases: ['the city of {x}', 'the home city of {x}'],
  questions: ['Which city is {x} in?', 'In which city is {x}?', 'What is the home city of {x}?'],
  same: ['Are {a} and {b} in the same city?'],
};

export const founder: Relation = {
  target: 'person',
  phrases: ['the founder of {x}', 'the person who founded {x}'],
  questions: ['Who founded {x}?', 'Who was the founder of {x}?', 'Which person founded {x}?'],
};

export const leader: Relation = {
  target: 'person',
  phrases: ['the leader of {x}', 'the person who leads {x}'],
  questions: ['Who leads {x}?', 'Who is the leader of {x}?', 'Which person leads {x}?'],
};
