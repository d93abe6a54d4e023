/** The environment `hotpotqa-v1`: questions from the files of HotpotQA, distractor or fullwiki. */
import type { EnvDefinition } from '@toolenv/core';
import { type DatasetOptions, defineDatasetEnv } from './datasets/dataset-env.ts';
import { hotpotFormat } from './datasets/hotpotqa-format.ts';
import { hotpotData } from './datasets/published-files.ts';
import type { QaTask } from './qa-record.ts';

const hotpotqa: EnvDefinition<QaTask, DatasetOptions> = defineDatasetEnv<DatasetOptions>({
  name: 'hotpotqa-v1',
  description: 'Questions from files in the JSON format of HotpotQA, scored by its script.',
  format: hotpotFormat,
  data: hotpotData,
});

export default hotpotqa;
