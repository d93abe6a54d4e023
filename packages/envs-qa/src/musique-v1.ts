/** The environment `musique-v1`: questions of two to four hops from the files of MuSiQue. Of MuSiQue-Full it asks those that can be answered. */
import { musiqueF1Score } from './answer-score.ts';
import { defineDatasetEnv } from './datasets/dataset-env.ts';
import { musiqueFormat } from './datasets/musique-format.ts';
import { musiqueData } from './datasets/published-files.ts';

export default defineDatasetEnv({
  name: 'musique-v1',
  description: 'Questions from files in the JSON format of MuSiQue, scored by its script.',
  format: musiqueFormat,
  data: musiqueData('ans'),
  f1: musiqueF1Score,
  // Four searches, the answer and one spare turn.
  maxTurns: 6,
});
