/** localEmbedder: embeddings of a model in a folder, computed in this process by the optional peer @huggingface/transformers. */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { messageOf, ToolEnvError } from '@toolenv/core';
import type { Embedder } from './embedder.ts';

/** Texts that are computed at once. */
const batchSize = 32;
const name = '@huggingface/transformers';

interface Vectors {
  tolist(): number[][];
}
type Extractor = ((
  texts: string[],
  options: { pooling: 'mean' | 'cls'; normalize: boolean },
) => Promise<Vectors>) & { dispose(): Promise<unknown> };
interface Transformers {
  env: { allowRemoteModels: boolean };
  pipeline(task: 'feature-extraction', model: string): Promise<Extractor>;
}

/** @throws ToolEnvError `usage.missing_package`, `usage.embeddings` if the folder has no model. */
export async function localEmbedder(folder: string, pooling: 'mean' | 'cls'): Promise<Embedder> {
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
      for (let at = 0; at < texts.length; at += batchSize) {
        signal?.throwIfAborted();
        const batch = await extractor(texts.slice(at, at + batchSize), { pooling, normalize: true });
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
