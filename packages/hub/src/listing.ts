/** The files of a repository at a commit: as the Hub lists them, and as the cache keeps the list. */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { ToolEnvError } from '@toolenv/core';
import { hubError, hubFetch, type Repo } from './hub-fetch.ts';
import { isCommit } from './hub-name.ts';
import type { HubSettings } from './hub-settings.ts';

export interface HubFile {
  /** Parts with `/` between them. */
  path: string;
  bytes: number;
  /** SHA-256 of a file in LFS, else git's SHA-1 of a blob: its name in the cache. */
  digest: string;
}

/** Files and pages of a listing at most. */
const maxFiles = 100_000;
const maxPages = 1000;

/** The commit that a revision names. @throws What {@link hubFetch} throws. */
export async function fetchCommit(settings: HubSettings, repo: Repo, signal?: AbortSignal): Promise<string> {
  const { modelInfo, datasetInfo } = await import('@huggingface/hub');
  const { name, revision, type } = repo;
  const fetch = hubFetch(settings, repo, signal);
  const ask = { name, revision, hubUrl: settings.endpoint, fetch, additionalFields: ['sha' as const] };
  try {
    const { sha } = await (type === 'model' ? modelInfo(ask) : datasetInfo(ask));
    if (typeof sha === 'string' && isCommit(sha)) return sha;
    throw new Error('it names no commit');
  } catch (error) {
    throw hubError(error, settings.endpoint);
  }
}

/**
 * The files at a commit. Those of a model are in its topmost folder.
 * @throws What {@link hubFetch} throws; ToolEnvError `infrastructure.hub` for an answer that is not a listing, or has a path out of its folder.
 */
export async function fetchListing(
  settings: HubSettings,
  repo: Repo,
  signal?: AbortSignal,
): Promise<HubFile[]> {
  const { listFiles } = await import('@huggingface/hub');
  const { type, name, revision } = repo;
  const files: HubFile[] = [];
  let pages = 0;
  const request = hubFetch(settings, repo, signal);
  const fetch: typeof globalThis.fetch = (url, init) => {
    pages += 1;
    if (pages > maxPages || files.length > maxFiles) throw new Error('its list of files does not end');
    return request(url, init);
  };
  const ask = { repo: { type, name }, revision, hubUrl: settings.endpoint, fetch };
  try {
    for await (const entry of listFiles({ ...ask, recursive: type === 'dataset' })) {
      if (Object(entry).type !== 'file') continue;
      files.push(readFile(entry.path, entry.lfs?.size ?? entry.size, entry.lfs?.oid ?? entry.oid));
    }
  } catch (error) {
    throw hubError(error, settings.endpoint);
  }
  return files;
}

/** @throws Error for a path that leads elsewhere, and for a malformed size or digest. */
function readFile(path: unknown, bytes: unknown, digest: unknown): HubFile {
  const text = String(path);
  const isSafe =
    typeof path === 'string' &&
    path.length <= 1000 &&
    path
      .split('/')
      .every((part) => part !== '' && part !== '.' && part !== '..' && !/[\\:\p{Cc}]/u.test(part));
  if (!isSafe)
    throw new Error(
      `it lists the path ${JSON.stringify(text.slice(0, 200))}, which is not a path in a folder`,
    );
  if (!Number.isSafeInteger(bytes) || Number(bytes) < 0) throw new Error(`it lists ${text} without its size`);
  if (typeof digest !== 'string' || !/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(digest))
    throw new Error(`it lists ${text} without its digest`);
  return { path: text, bytes: Number(bytes), digest };
}

/** @throws ToolEnvError `infrastructure.hub_digest` if the file is not the one that was listed. */
export async function checkDigest(
  file: string,
  { path, bytes, digest }: HubFile,
  signal?: AbortSignal,
): Promise<void> {
  const isLfs = digest.length === 64;
  const hash = createHash(isLfs ? 'sha256' : 'sha1');
  // Git hashes a header before the content.
  if (!isLfs) hash.update(`blob ${bytes}\0`);
  for await (const chunk of createReadStream(file, { highWaterMark: 1 << 20, signal })) hash.update(chunk);
  const found = hash.digest('hex');
  if (found === digest) return;
  const message = `${path} arrived with the digest ${found}, and not ${digest}, so it was discarded: run the same command again, or check HF_ENDPOINT.`;
  throw new ToolEnvError('infrastructure.hub_digest', message);
}
