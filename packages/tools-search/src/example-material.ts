/** The documents that the search plugins are checked with. */
import type { SearchDocument } from './document.ts';

export const exampleMaterial: { documents: SearchDocument[]; topK: number } = {
  documents: [
    { title: 'Ada Lovelace', text: 'Ada Lovelace wrote the first program.' },
    { title: 'Grace Hopper', text: 'Grace Hopper wrote the first compiler.' },
  ],
  topK: 2,
};
