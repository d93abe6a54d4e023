/** openEmbedder: the embeddings that the options of an index name. */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { messageOf, ToolEnvError } from '@toolenv/core';
import { registerSecret } from '@toolenv/core/secrets';
import pLimit from 'p-limit';
import type { CompleteIndexOptions } from '../passages/index-options.ts';
import { postJson } from '../post-json.ts';

/** Texts of one request to a server, and texts that are computed at once here. */
const [textsPerRequest, textsAtOnce] = [64, 32];

/**
 * @param url Base URL, such as `http://127.0.0.1:8000/v1`. The key is in the environment variable OPENAI_API_KEY.
 * @throws ToolEnvError `usage.embeddings` without a model.
 */
function serverEmbedder(url: string, model: string | undefined): Embedder {
  if (model === undefined) {
    const message = `${url} may have several models: name one with embeddingModel.`;
    throw new ToolEnvError('usage.embeddings', message);
  }
  const key = registerSecret(process.env.OPENAI_API_KEY);
  const headers: Record<string, string> = key ? { authorization: `Bearer ${key}` } : {};
  const limit = pLimit(4);
  const endpoint = `${url.replace(/\/+$/, '')}/embeddings`;
  const request = (input: readonly string[], signal: AbortSignal | undefined) => {
    const body = { model, input, encoding_format: 'float' };
    const read = (reply: unknown) => readVectors(reply, input.length);
    const code = 'infrastructure.embeddings';
    return limit(() => postJson(endpoint, body, read, { headers, timeout: 60_000, code, signal }));
  };
  return {
    async embed(texts, { signal }) {
      const batches = Array.from({ length: Math.ceil(texts.length / textsPerRequest) }, (_, index) =>
        texts.slice(index * textsPerRequest, (index + 1) * textsPerRequest),
      );
      return (await Promise.all(batches.map((batch) => request(batch, signal)))).flat();
    },
    close: async () => {},
  };
}

/** `undefined` if the reply does not have the vectors. */
function readVectors(reply: unknown, count: number): Float32Array[] | undefined {
  const data = (reply as { data?: unknown } | null)?.data;
  if (!Array.isArray(data) || data.length !== count) return undefined;
  const vectors: Float32Array[] = new Array(count);
  for (const [place, { index = place, embedding }] of data.entries()) {
    if (!Array.isArray(embedding) || embedding.length === 0 || !embedding.every(Number.isFinite))
      return undefined;
    vectors[index] = Float32Array.from(embedding);
  }
  const length = vectors[0]?.length;
  const isComplete = Array.from(vectors).every((vector) => vector?.length === length);
  return isComplete && vectors.length === count ? vectors : undefined;
}

const name = '@huggingface/transformers';

type Extractor = ((
  texts: string[],
  options: { pooling: 'mean' | 'cls'; normalize: boolean },
) => Promise<{ tolist(): number[][] }>) & { dispose(): Promise<unknown> };
interface Transformers {
  env: { allowRemoteModels: boolean };
  pipeline(task: 'feature-extraction', model: string): Promise<Extractor>;
}

/** @throws ToolEnvError `usage.missing_package`, `usage.embeddings` if the folder has no model. */
async function localEmbedder(folder: string, pooling: 'mean' | 'cls'): Promise<Embedder> {
  if (!existsSync(folder)) {
    const message = `There is no folder ${folder}: give a folder of a model, or the URL of a server.`;
    throw new ToolEnvError('usage.embeddings', message);
  }
  const { env, pipeline } = await load();
  env.allowRemoteModels = false;
  const extractor = await pipeline('feature-extraction', resolve(folder)).catch((error: unknown) => {
    const message = `${folder} has no model that ${name} reads (${messageOf(error)}).`;
    throw new ToolEnvError('usage.embeddings', message, { cause: error });
  });
  return {
    async embed(texts, { signal }) {
      const vectors: Float32Array[] = [];
      for (let at = 0; at < texts.length; at += textsAtOnce) {
        signal?.throwIfAborted();
        const batch = await extractor(texts.slice(at, at + textsAtOnce), { pooling, normalize: true });
        vectors.push(...batch.tolist().map((numbers) => Float32Array.from(numbers)));
      }
      return vectors;
    },
    close: async () => void (await extractor.dispose()),
  };
}

async function load(): Promise<Transformers> {
  try {
    // Not a literal, because the package may be absent, and has its own types.
    return (await import(name as string)) as Transformers;
  } catch (error) {
    const message = `A model in a folder needs ${name}: npm install ${name}`;
    throw new ToolEnvError('usage.missing_package', message, { cause: error });
  }
}

export interface Embedder {
  /** A vector per text. @throws ToolEnvError `infrastructure.embeddings`. */
  embed(
    texts: readonly string[],
    options: { kind: 'query' | 'passage'; signal?: AbortSignal | undefined },
  ): Promise<readonly Float32Array[]>;
  close(): Promise<void>;
}

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
