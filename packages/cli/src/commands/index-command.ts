/** `toolenv index`: builds a search index from a file of passages. */
import type { JsonSchema } from '@toolenv/core';
import { LateStatus } from '../display/late-status.ts';
import { plural } from '../display/number-text.ts';
import { readFlags, schemaFlags } from '../flags/schema-flags.ts';
import { importSearch, indexSchema } from './import-optional.ts';
import type { MakeCommand } from './make-command.ts';

interface Flags extends Record<string, unknown> {
  out: string;
  json?: boolean;
}

/** Milliseconds between the lines of a log. */
const logInterval = 10_000;

export const make: MakeCommand = async (command, { signal }) => {
  const schema = await indexSchema();
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
  const { buildPassageIndex } = await importSearch('toolenv index');
  const begun = performance.now();
  const status = new LateStatus();
  let logged = begun;
  try {
    const count = await buildPassageIndex({
      ...readFlags(schema, given),
      passages,
      folder,
      signal,
      onProgress({ stage, passages: done, share }) {
        const line = `${stage}: ${plural(done, 'passage')}, ${Math.floor(100 * share)} % of the file`;
        status.show(line);
        if (process.stderr.isTTY || performance.now() - logged < logInterval) return;
        logged = performance.now();
        process.stderr.write(`${line}\n`);
      },
    });
    status.stop();
    const seconds = (performance.now() - begun) / 1000;
    const result = { folder, passages: count, seconds: Number(seconds.toFixed(1)) };
    const text = `${folder} has an index of ${plural(count, 'passage')}. Search in it with --tool search=@toolenv/tools-search/index-search-v1?folder=${folder}`;
    process.stdout.write(`${json ? JSON.stringify(result) : text}\n`);
  } finally {
    status.stop();
  }
}
