/** serverEmbedder: embeddings of an OpenAI-compatible server, in batches, each sent again after a transient fault. */
import { ToolEnvError } from '@toolenv/core';
import { registerSecret } from '@toolenv/core/secrets';
import pLimit from 'p-limit';
import { postJson } from '../post-json.ts';
import type { Embedder } from './embedder.ts';

/** Texts of one request. */
const batchSize = 64;

/**
 * @param url Base URL, such as `http://127.0.0.1:8000/v1`. The key is in the environment variable OPENAI_API_KEY.
 * @throws ToolEnvError `usage.embeddings` without a model.
 */
export function serverEmbedder(url: string, model: string | undefined): Embedder {
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
      const batches = Array.from({ length: Math.ceil(texts.length / batchSize) }, (_, index) =>
        texts.slice(index * batchSize, (index + 1) * batchSize),
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
