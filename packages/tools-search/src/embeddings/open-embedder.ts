/** openEmbedder: the embeddings that the options of an index name. */
import type { CompleteIndexOptions } from '../passages/index-options.ts';
import type { Embedder } from './embedder.ts';
import { localEmbedder } from './local-embedder.ts';
import { serverEmbedder } from './server-embedder.ts';

/** `undefined` without `embeddings`. @throws ToolEnvError `usage.embeddings`, `usage.missing_package`. */
export async function openEmbedder(options: CompleteIndexOptions): Promise<Embedder | undefined> {
  const { embeddings, queryPrefix, passagePrefix } = options;
  if (embeddings === undefined) return undefined;
  const embedder = /^https?:\/\//.test(embeddings)
    ? serverEmbedder(embeddings, options.embeddingModel)
    : await localEmbedder(embeddings, options.pooling);
  const prefixes = { query: queryPrefix, passage: passagePrefix };
  return {
    embed: (texts, { kind, signal }) =>
      embedder.embed(
        texts.map((text) => prefixes[kind] + text),
        { kind, signal },
      ),
    close: () => embedder.close(),
  };
}
