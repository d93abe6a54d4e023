/** hubFetch: requests to the Hub's API, with the token for the Hub alone, with limits, and with errors that name the remedy. */
import { messageOf, ToolEnvError } from '@toolenv/core';
import { AnswerTooLarge, bounded, isTransient } from '@toolenv/serving/client';
import { reasonOf } from './download.ts';
import type { HubSettings } from './hub-settings.ts';
import { PermanentError, persist, RetryLater } from './persist.ts';

/** What requests are about. */
export interface Repo {
  type: 'model' | 'dataset';
  /** `owner/name`. */
  name: string;
  revision: string;
  /** What the token must be allowed. Default `read`. */
  access?: 'read' | 'write';
}

/**
 * A `fetch` for `@huggingface/hub`. It repeats what may pass, and gives an answer as a whole.
 * @throws From the call: ToolEnvError as {@link refusalOf} gives; `infrastructure.hub` if the Hub is silent, cannot be reached or sends too
 *   much; the signal's reason.
 */
export function hubFetch(settings: HubSettings, repo: Repo, signal?: AbortSignal): typeof fetch {
  const { endpoint, silence } = settings;
  const { name, access } = repo;
  return async (input, init = {}) => {
    const url = new URL(input instanceof Request ? input.url : input);
    const headers = withToken(settings, url, new Headers(init.headers));
    const attempt = async () => {
      const signals = [signal, init.signal].filter((each) => each != null);
      const quiet = new AbortController();
      const timer = setTimeout(
        () => quiet.abort(new Error(`no answer for ${silence / 1000} seconds`)),
        silence,
      );
      // An upload is as slow as the line. Any other answer is short.
      if (init.body) clearTimeout(timer);
      else signals.push(AbortSignal.timeout(8 * silence));
      try {
        const all = AbortSignal.any([...signals, quiet.signal]);
        const response = await fetch(url, { ...init, headers, signal: all });
        if (isTransient(response.status) && response.status !== 409) throw new RetryLater(response);
        const body = await bytesOf(response, () => timer.refresh());
        // A repository or branch that exists already is not a failure.
        if (response.ok || response.status === 409)
          return new Response(body.length > 0 ? body : null, response);
        throw (
          refusalOf(response, settings, repo) ??
          new PermanentError(`HTTP ${response.status} ${response.statusText}`.trim())
        );
      } finally {
        clearTimeout(timer);
      }
    };
    try {
      return await persist(attempt, { signal });
    } catch (error) {
      signal?.throwIfAborted();
      if (ToolEnvError.isInstance(error)) throw error;
      const why = `${endpoint} cannot be used (${reasonOf(error)})`;
      const message =
        access === 'write'
          ? `${name} is not written, because ${why}: check the network and HF_ENDPOINT, and run the same command again.`
          : `${name} is not a local path, and ${why}: correct the path, or check the network and HF_ENDPOINT; HF_HUB_OFFLINE=1 uses what the cache has.`;
      throw new ToolEnvError('infrastructure.hub', message, { cause: error });
    }
  };
}

/** Headers with the token for the Hub, and without it for any other host. */
export function withToken(
  { endpoint, token }: HubSettings,
  url: URL,
  headers: Headers = new Headers(),
): Headers {
  const isHub = url.origin === new URL(endpoint).origin;
  if (isHub && token !== undefined) headers.set('authorization', `Bearer ${token}`);
  else if (isHub || headers.get('authorization') === `Bearer ${token}`) headers.delete('authorization');
  return headers;
}

/** The error of an answer that will not change; `undefined` for one that says nothing to a person. */
export function refusalOf(
  { status, headers }: Response,
  { endpoint, token }: HubSettings,
  { type, name, revision, access = 'read' }: Repo,
): ToolEnvError | undefined {
  const code = headers.get('x-error-code');
  const page = `${endpoint}/${type === 'dataset' ? 'datasets/' : ''}${name}`;
  if (code === 'GatedRepo') {
    const message = `${name} is gated: accept its terms at ${page}, and set HF_TOKEN to a token of your account.`;
    return new ToolEnvError('usage.hub_access', message);
  }
  if (code === 'RevisionNotFound') {
    const message = `${page} has no revision ${revision}: name a branch, a tag or a commit, such as ${name}@main.`;
    return new ToolEnvError('usage.hub_revision', message);
  }
  if (access === 'write' && [401, 403].includes(status)) {
    const message = `${endpoint} does not let ${token ? 'your token' : 'anyone without a token'} write ${name} (HTTP ${status}): set HF_TOKEN to a token that may write it.`;
    return new ToolEnvError('usage.hub_access', message);
  }
  // The Hub answers 401 for what does not exist, too.
  if (![401, 403, 404].includes(status)) return undefined;
  const message = `${name} is not a local path, and ${endpoint} has no such ${type} (HTTP ${status}): correct the path or the name, or set HF_TOKEN to a token that may read it.`;
  return new ToolEnvError(status === 404 ? 'usage.hub_missing' : 'usage.hub_access', message);
}

async function bytesOf({ body }: Response, onBytes: () => void): Promise<Buffer<ArrayBuffer>> {
  const chunks: Uint8Array[] = [];
  try {
    for await (const chunk of bounded(body)) {
      onBytes();
      chunks.push(chunk);
    }
  } catch (error) {
    if (!(error instanceof AnswerTooLarge)) throw error;
    throw new ToolEnvError(
      'infrastructure.hub',
      `The Hub cannot be used: ${error.message}: check HF_ENDPOINT.`,
    );
  }
  return Buffer.concat(chunks);
}

/** An error of the library in one line. */
export function hubError(error: unknown, endpoint: string): ToolEnvError {
  if (ToolEnvError.isInstance(error)) return error;
  const message = `${endpoint} answers wrongly (${messageOf(error).replaceAll('\n', ' ')}): check HF_ENDPOINT.`;
  return new ToolEnvError('infrastructure.hub', message, { cause: error });
}
