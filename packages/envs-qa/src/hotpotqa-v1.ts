/** The environment `hotpotqa-v1`: questions from the files of HotpotQA, distractor or fullwiki. */
import { defineDatasetEnv } from './datasets/dataset-env.ts';
import { hotpotFormat } from './datasets/hotpotqa-format.ts';
import { hotpotData } from './datasets/published-files.ts';

export default defineDatasetEnv({
  name: 'hotpotqa-v1',
  description: 'Questions from files in the JSON format of HotpotQA, scored by its script.',
  format: hotpotFormat,
  data: hotpotData,
});
