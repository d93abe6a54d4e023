/**
 * The environment `musique-full-v1`: all questions of MuSiQue-Full. Half of them cannot be answered from their own paragraphs, and the
 * reward `answerable` asks the model to say so.
 */
import { musiqueF1Score } from './answer-score.ts';
import { defineDatasetEnv } from './datasets/dataset-env.ts';
import { musiqueFormat } from './datasets/musique-format.ts';
import { musiqueData } from './datasets/published-files.ts';

export default defineDatasetEnv({
  name: 'musique-full-v1',
  description: 'Questions from files in the JSON format of MuSiQue-Full, half of which cannot be answered.',
  format: musiqueFormat,
  data: musiqueData('full'),
  f1: musiqueF1Score,
  mayBeUnanswerable: true,
  corpus: 'question',
  // Four searches, the answer and one spare turn.
  maxTurns: 6,
});
