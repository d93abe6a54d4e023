/** ResponseCache: the replies of a server on disk, by request, so that an evaluation that is run again asks for nothing. */
import { createHash } from 'node:crypto';
import { rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ensureDir, readRegular, withDiskErrors } from '@toolenv/core/files';
import { canonical } from '@toolenv/core/recording';
import { isObject, tryObject } from '@toolenv/core/schemas';
import { jsonWithoutSecrets } from '@toolenv/core/secrets';
import type { Answer, Json, Refusal } from './refusal.ts';
import type { UsageCount } from './usage-count.ts';

/** What decides a reply. */
export interface CachedRequest {
  url: string;
  path: string;
  body?: Json | undefined;
  /** Tells the samples of one request apart. Not used at temperature 0, where all samples are the same. */
  sample?: number | undefined;
}

export class ResponseCache {
  readonly #folder: string;
  #partials = 0;

  /** @param folder Is made when the first reply is kept. Several processes may use it at once. */
  constructor(folder: string) {
    this.#folder = folder;
  }

  /**
   * The reply that is kept for the request; else that of `ask`, which is kept. A damaged file, and the file of another request, count as
   * absent.
   * @param usage Counts the replies that were kept.
   * @throws What `ask` throws, which is not kept; `usage.folder` and `infrastructure.disk`.
   */
  async answer(request: CachedRequest, usage: UsageCount, ask: () => Promise<Answer>): Promise<Answer> {
    const digest = digestOf(request);
    const file = join(this.#folder, digest.slice(0, 2), `${digest}.json`);
    const kept = await readRegular(file).then(
      (text) => readAnswer(text, digest),
      () => undefined,
    );
    if (kept) {
      usage.addCached();
      return kept;
    }
    const answer = await ask();
    await ensureDir(dirname(file));
    const partial = `${file}.${process.pid}-${this.#partials++}`;
    await withDiskErrors(file, async () => {
      await writeFile(partial, jsonWithoutSecrets({ request: digest, ...answer }));
      await rename(partial, file);
    });
    return answer;
  }
}

function digestOf({ url, path, body, sample }: CachedRequest): string {
  const isGreedy = body?.temperature === 0;
  const { seed, ...greedy } = body ?? {};
  const key = isGreedy ? { url, path, body: greedy } : { url, path, body, sample };
  return createHash('sha256')
    .update(JSON.stringify(canonical(key)))
    .digest('hex');
}

function readAnswer(text: string, digest: string): Answer | undefined {
  const { request, body, refusal } = tryObject(text) ?? {};
  if (request !== digest) return undefined;
  if (isObject(body)) return { body };
  const isWhole =
    isObject(refusal) && typeof refusal.status === 'number' && typeof refusal.message === 'string';
  return isWhole ? { refusal: refusal as unknown as Refusal } : undefined;
}
