/** push: uploads files into a repository of models, in one commit. */
import { stat } from 'node:fs/promises';
import { pathToFileURL } from 'node:url';
import { ToolEnvError } from '@toolenv/core';
import { hubError, hubFetch, type Repo } from './hub-fetch.ts';
import { hubSettings } from './hub-settings.ts';

export interface Push {
  /** `owner/name`. It is made if it does not exist. */
  name: string;
  /** A branch. It is made if it does not exist. Default `main`. */
  revision?: string | undefined;
  /** Whether a repository that is made is private. Default: as the account makes them. */
  isPrivate?: boolean | undefined;
  /** Path in the repository → a file here, or a content. */
  files: Readonly<Record<string, { file: string } | { content: string }>>;
  title: string;
  signal?: AbortSignal | undefined;
  /** Called with the bytes that were read or sent so far, of `total`. */
  onProgress?(bytes: number, total: number): void;
}

export interface Pushed {
  /** The page of the repository. */
  url: string;
  commit: string;
  bytes: number;
}

/**
 * Other files of the repository stay. Nothing is asked.
 * @throws ToolEnvError `usage.hub_access` without a token that may write, `usage.hub_missing`, `usage.hub_offline`, `infrastructure.hub`;
 *   the signal's reason.
 */
export async function push(plan: Push): Promise<Pushed> {
  const { name, revision = 'main', isPrivate, files, title, signal, onProgress } = plan;
  const settings = await hubSettings();
  const { endpoint: hubUrl, token, isOffline } = settings;
  if (isOffline) {
    const message = 'HF_HUB_OFFLINE forbids to upload: unset the variable.';
    throw new ToolEnvError('usage.hub_offline', message);
  }
  if (token === undefined) {
    const message = `Uploading ${name} needs a token: set HF_TOKEN to a token that may write it, from ${hubUrl}/settings/tokens.`;
    throw new ToolEnvError('usage.hub_access', message);
  }
  const { commitIter, createBranch, createRepo, HubApiError } = await import('@huggingface/hub');
  const about: Repo = { type: 'model', name, revision, access: 'write' };
  const repo = { type: 'model' as const, name };
  // `fetch` sends the token, because the library takes no other than the Hub's own.
  const ask = { repo, hubUrl, fetch: hubFetch(settings, about, signal), accessToken: '' };
  const unlessThere = (error: unknown) => {
    if (!(error instanceof HubApiError && error.statusCode === 409)) throw error;
  };
  const sizes = new Map<string, number>();
  for (const [path, each] of Object.entries(files))
    sizes.set(path, 'file' in each ? (await stat(each.file)).size : Buffer.byteLength(each.content));
  const bytes = [...sizes.values()].reduce((sum, size) => sum + size, 0);
  try {
    const visibility =
      isPrivate === undefined ? {} : ({ visibility: isPrivate ? 'private' : 'public' } as const);
    await createRepo({ ...ask, ...visibility }).catch(unlessThere);
    if (revision !== 'main') await createBranch({ ...ask, branch: revision }).catch(unlessThere);
    const operations = Object.entries(files).map(([path, each]) => ({
      operation: 'addOrUpdate' as const,
      path,
      content: 'file' in each ? pathToFileURL(each.file) : new Blob([each.content]),
    }));
    // By LFS: Xet would first cut all weights into chunks in this process.
    const events = commitIter({
      useXet: false,
      ...ask,
      operations,
      title,
      branch: revision,
      ...(signal && { abortSignal: signal }),
    });
    const done = new Map<string, number>();
    for (;;) {
      const { value, done: isOver } = await events.next();
      if (isOver) {
        const commit = value?.commit.oid;
        if (commit === undefined) throw new Error('it names no commit');
        return { url: `${hubUrl}/${name}`, commit, bytes };
      }
      if (value.event !== 'fileProgress' || value.state !== 'uploading') continue;
      done.set(value.path, value.progress * (sizes.get(value.path) ?? 0));
      onProgress?.(
        [...done.values()].reduce((sum, each) => sum + each, 0),
        bytes,
      );
    }
  } catch (error) {
    signal?.throwIfAborted();
    throw hubError(error, hubUrl);
  }
}
