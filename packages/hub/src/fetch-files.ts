/** fetchFiles: files of a repository in the cache, fetched from the Hub if they are not there. */

import { dirname } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { ToolEnvError } from '@toolenv/core';
import { ensureDir } from '@toolenv/core/files';
import { type DownloadPlan, type DownloadWatch, startDownload } from '@toolenv/core/plugins';
import { CachedRepo, hasSize } from './cache.ts';
import { claimPartial, releasePartial } from './claimed-partial.ts';
import { download } from './download.ts';
import { type Repo, refusalOf, withToken } from './hub-fetch.ts';
import { type HubSettings, hubSettings } from './hub-settings.ts';
import { checkDigest, fetchCommit, fetchListing, type HubFile } from './listing.ts';

export interface Wanted {
  type: 'model' | 'dataset';
  /** `owner/name`. */
  name: string;
  /** A branch, a tag or a commit. Default `main`. */
  revision?: string | undefined;
  /**
   * The files that are wanted, of those that the repository has. The first one comes before `plan`, if there is one.
   * @throws ToolEnvError if the repository does not have the files that are needed.
   */
  choose(files: readonly HubFile[]): readonly HubFile[];
  /** More of the plan that is shown before the other files come. `folder` has the first file. */
  plan?(folder: string): Promise<Pick<DownloadPlan, 'memory'>>;
  signal?: AbortSignal | undefined;
}

export interface Fetched {
  /** The folder of the snapshot. */
  folder: string;
  /** The commit. */
  revision: string;
  /** The files that were chosen. */
  files: readonly HubFile[];
}

/**
 * Makes no request if the cache has all chosen files of the revision. What an interrupted call has left is continued.
 * @throws ToolEnvError `usage.hub_access`, `usage.hub_missing`, `usage.hub_revision`, `usage.hub_offline`, `usage.hub_settings`,
 *   `infrastructure.hub`, `infrastructure.hub_digest`, `infrastructure.download`, `infrastructure.disk`; what `choose`, `plan` and the
 *   watcher of downloads throw; the signal's reason.
 */
export async function fetchFiles(wanted: Wanted): Promise<Fetched> {
  const { type, name, revision = 'main', choose, signal } = wanted;
  const settings = await hubSettings();
  const cached = new CachedRepo(settings.cache, { type, name });
  const known = await findCached(cached, revision, wanted, settings);
  if (known) return known;
  if (settings.isOffline) {
    const message = `${name} is not whole in the cache at revision ${revision}, and HF_HUB_OFFLINE forbids to fetch it: unset the variable, or name a local folder.`;
    throw new ToolEnvError('usage.hub_offline', message);
  }
  const commit = await fetchCommit(settings, { type, name, revision }, signal);
  const repo = { type, name, revision: commit };
  const listing = (await cached.listing(commit)) ?? (await fetchListing(settings, repo, signal));
  const files = choose(listing);
  const isMissing = await Promise.all(files.map((file) => cached.has(commit, file).then((has) => !has)));
  const missing = files.filter((_, index) => isMissing[index]);
  if (missing.length === 0) {
    // A cache that several people share may be one that cannot be written.
    await cached.keepListing(commit, listing).catch(() => {});
    await cached.keepCommit(revision, commit).catch(() => {});
    return { folder: cached.snapshot(commit), revision: commit, files };
  }
  await cached.keepListing(commit, listing);
  const first = wanted.plan ? files[0] : undefined;
  const fetching = { cached, repo, settings, signal };
  if (first !== undefined && missing.includes(first)) await fetchFile(first, fetching);
  const rest = missing.filter((file) => file !== first);
  const folder = cached.snapshot(commit);
  if (rest.length > 0) {
    const bytes = rest.reduce((sum, file) => sum + file.bytes, 0);
    const more = await wanted.plan?.(folder);
    const watch = await startDownload({ name, revision: commit, bytes, ...more });
    await fetchAll(rest, { ...fetching, watch });
  }
  await cached.keepCommit(revision, commit);
  return { folder, revision: commit, files };
}

/** `undefined` if the cache lacks a file, or cannot know whether it does. */
async function findCached(
  cached: CachedRepo,
  revision: string,
  { choose }: Wanted,
  { isOffline }: HubSettings,
): Promise<Fetched | undefined> {
  const commit = await cached.commitOf(revision);
  if (commit === undefined) return undefined;
  // Python keeps no list: offline, what is there must do.
  const listing = (await cached.listing(commit)) ?? (isOffline ? await cached.filesIn(commit) : undefined);
  if (listing === undefined) return undefined;
  let files: readonly HubFile[];
  try {
    files = choose(listing);
  } catch (error) {
    // The snapshot may lack what the repository has.
    if (isOffline) return undefined;
    throw error;
  }
  const has = await Promise.all(files.map((file) => cached.has(commit, file)));
  return has.every(Boolean) ? { folder: cached.snapshot(commit), revision: commit, files } : undefined;
}

interface Fetching {
  cached: CachedRepo;
  repo: Repo;
  settings: HubSettings;
  signal: AbortSignal | undefined;
  watch?: DownloadWatch;
}

async function fetchAll(
  files: readonly HubFile[],
  fetching: Fetching & { watch: DownloadWatch },
): Promise<void> {
  const { watch } = fetching;
  let before = 0;
  try {
    for (const file of files) {
      await fetchFile(file, fetching, (bytes) => watch.progress(before + bytes));
      before += file.bytes;
      watch.progress(before);
    }
  } finally {
    watch.end();
  }
}

/** One file, which another process may be fetching already. */
async function fetchFile(
  file: HubFile,
  { cached, repo, settings, signal }: Fetching,
  onProgress: (bytes: number) => void = () => {},
): Promise<void> {
  const blob = cached.blob(file);
  const url = fileUrl(file, repo, settings);
  await ensureDir(dirname(blob));
  while (!(await hasSize(blob, file.bytes))) {
    signal?.throwIfAborted();
    const claim = await claimPartial(blob, file.bytes);
    if ('elsewhere' in claim) {
      onProgress(claim.elsewhere);
      await wait(100 + Math.random() * 400, undefined, { signal }).catch(() => {});
      continue;
    }
    try {
      await download({
        url: url.href,
        file: blob,
        partial: claim.file,
        otherwise: `Or name a local folder instead of ${repo.name}.`,
        headers: Object.fromEntries(withToken(settings, url)),
        known: { bytes: file.bytes, check: (partial) => checkDigest(partial, file, signal) },
        // What the server of large files refuses says nothing of the repository.
        explain: (response) =>
          new URL(response.url).origin === url.origin ? refusalOf(response, settings, repo) : undefined,
        silence: settings.silence,
        signal,
        onProgress,
      });
    } catch (error) {
      if (!ToolEnvError.isInstance(error) || error.code !== 'infrastructure.download_taken') throw error;
    } finally {
      await releasePartial(blob, claim.file);
    }
  }
  await cached.place(repo.revision, file);
}

function fileUrl({ path }: HubFile, { type, name, revision }: Repo, { endpoint }: HubSettings): URL {
  const address = path.split('/').map(encodeURIComponent).join('/');
  return new URL(
    `${endpoint}/${type === 'dataset' ? 'datasets/' : ''}${name}/resolve/${revision}/${address}`,
  );
}
