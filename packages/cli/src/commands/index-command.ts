/** `toolenv index`: builds a search index from a file of passages. */
import type { JsonSchema } from '@toolenv/core';
import { plural } from '../display/number-text.ts';
import { Progress } from '../display/progress.ts';
import { importPackage, optionalSchema } from '../flags/import-optional.ts';
import { refuseWithout } from '../flags/missing-options.ts';
import { readFlags, schemaFlags } from '../flags/schema-flags.ts';
import type { MakeCommand } from './commands.ts';

interface Flags extends Record<string, unknown> {
  out: string;
  json?: boolean;
}

export const make: MakeCommand = async (command, { signal }) => {
  const schema = await optionalSchema('index');
  command
    .description(
      'Builds a search index from passages in JSONL, BEIR, KILT or the Wikipedia dump of Search-R1, gzipped or not. Run an interrupted command again to continue.',
    )
    .argument('<passages>', 'file of passages')
    .requiredOption('--out <folder>', 'folder for the index, or a URI such as s3://bucket/index')
    .option('--json', 'print the result as JSON');
  for (const flag of schemaFlags(schema)) command.addOption(flag);
  command.action((passages: string, given: Flags) => makeIndex(passages, given, { schema, signal }));
};

async function makeIndex(
  passages: string,
  { out: folder, json, ...given }: Flags,
  { schema, signal }: { schema: JsonSchema; signal: AbortSignal },
): Promise<void> {
  const ofEmbeddings = ['embeddingModel', 'pooling', 'queryPrefix', 'passagePrefix'];
  refuseWithout(given, Object.fromEntries(ofEmbeddings.map((flag) => [flag, 'embeddings'])));
  const { buildPassageIndex } = await importPackage('tools-search', 'toolenv index');
  const begun = performance.now();
  let bar: { stage: string; progress: Progress } | undefined;
  try {
    const count = await buildPassageIndex({
      ...readFlags(schema, given),
      passages,
      folder,
      signal,
      onProgress({ stage, passages: done, share }) {
        if (bar?.stage !== stage) {
          bar?.progress.stop();
          // Only the first stage reads the file; how far the others are is not known.
          const total = stage === 'adding' ? 100 : 0;
          const label = stage === 'adding' ? 'adding, %' : `${stage}, passages`;
          bar = { stage, progress: new Progress(label, total, { isLate: true }) };
        }
        const [value, status] =
          stage === 'adding' ? [Math.floor(100 * share), plural(done, 'passage')] : [done, ''];
        bar.progress.update(value, status);
      },
    });
    bar?.progress.stop();
    const seconds = (performance.now() - begun) / 1000;
    const result = { folder, passages: count, seconds: Number(seconds.toFixed(1)) };
    const text = `${folder} has an index of ${plural(count, 'passage')}. Search in it with --tool search=@toolenv/tools-search/index-search-v1?folder=${folder}`;
    process.stdout.write(`${json ? JSON.stringify(result) : text}\n`);
  } finally {
    bar?.progress.stop();
  }
}
