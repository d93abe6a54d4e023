/** Sentences and questions about each river. */
import type { Kind } from '../entity.ts';

export const river: Kind = {
  noun: 'river',
  share: 0.04,
  relations: {
    source: {
      target: 'mountain',
      phrases: ['the mountain where {x} rises', 'the source of {x}'],
      questions: ['Which mountain does {x} rise on?', 'Where does {x} rise?', 'What is the source of {x}?'],
    },
    mouth: {
      target: 'city',
      phrases: ['the city where {x} meets the sea'],
      questions: ['In which city does {x} meet the sea?', 'Where does {x} meet the sea?'],
    },
    explorer: {
      target: 'person',
      phrases: ['the person who first mapped {x}'],
      questions: ['Who first mapped {x}?', 'Which person first mapped {x}?'],
    },
  },
  sentences: [
    [
      '{self} is a river that rises on the mountain {source}.',
      'The river {self} rises on the mountain {source}.',
      '{self} is a river, and its source is {source}.',
    ],
    [
      'It meets the sea in {mouth} and was first mapped by {explorer}.',
      '{explorer} first mapped it, and it meets the sea in {mouth}.',
      'First mapped by {explorer}, it meets the sea in {mouth}.',
    ],
    ['', 'It is known for {trait}.', 'It is often confused with {rival}.'],
  ],
  traits: ['gold', 'ships', 'horses', 'gardens'],
};
