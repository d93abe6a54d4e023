/** The environment `2wikimultihopqa-v1`: questions from the files of 2WikiMultihopQA, with the aliases of their answers. */
import { type DatasetOptions, defineDatasetEnv } from './datasets/dataset-env.ts';
import { wikimultihopData } from './datasets/published-files.ts';
import { readAliases, wikimultihopFormat } from './datasets/wikimultihop-format.ts';

export interface WikimultihopOptions extends DatasetOptions {
  /** The file id_aliases.json. Without it, only the answers of the records count. */
  aliasPath?: string;
}

export default defineDatasetEnv<WikimultihopOptions>({
  name: '2wikimultihopqa-v1',
  description: 'Questions from files in the JSON format of 2WikiMultihopQA, scored by its script.',
  format: wikimultihopFormat,
  data: wikimultihopData,
  // Bridge comparisons need four documents.
  maxTurns: 6,
  options: {
    aliasPath: {
      type: 'string',
      minLength: 1,
      description: 'file id_aliases.json: other names of the answers (default: none)',
    },
  },
  async complete(records, { aliasPath }) {
    if (aliasPath === undefined) return;
    const ids = new Set(records.flatMap(({ answer_id }) => answer_id ?? []));
    const aliases = await readAliases(aliasPath, ids);
    for (const record of records) {
      const names = aliases.get(record.answer_id ?? '');
      if (names) record.aliases = names;
    }
  },
});
