/** download: fetches a file over HTTP in pieces that add up, however often the connection drops or the program ends. */
import { open, readFile, rename, rm, stat } from 'node:fs/promises';
import { setTimeout as wait } from 'node:timers/promises';
import { messageOf, ToolEnvError } from '@toolenv/core';
import { writing } from '@toolenv/core/recording';
import { writeWhole } from '@toolenv/training';

export interface Download {
  url: string;
  /** Where the whole file is to be. Until then its beginning is in `<file>.partial`. */
  file: string;
  /** What a person can do instead, for errors. */
  otherwise: string;
  signal: AbortSignal;
  /** Called as bytes arrive. `total` is 0 while it is not known. */
  onProgress(bytes: number, total: number): void;
}

/** Attempts in a row that bring nothing, before the download fails. */
const mostFutile = 4;
/** Milliseconds before the second attempt; each further one waits twice as long. */
const firstPause = 500;
/** Milliseconds without a byte after which a connection counts as lost. */
const longestSilence = 60_000;

/** The answer of a server that will not change its mind. */
class Refused extends Error {}

/**
 * Continues what an earlier call has left, by a Range request, if the server still has the same file.
 * @throws ToolEnvError `infrastructure.download` if the server cannot be reached, refuses, or keeps dropping the connection;
 *   `infrastructure.disk` on a full disk. What has arrived stays for the next call. The signal's reason.
 */
export async function download(plan: Download): Promise<void> {
  const { file, signal, otherwise } = plan;
  const partial = `${file}.partial`;
  for (let futile = 0; ; ) {
    signal.throwIfAborted();
    const before = await sizeOf(partial);
    try {
      await fetchRest(plan, partial, before);
      await rename(partial, file);
      await rm(`${partial}.json`, { force: true });
      return;
    } catch (error) {
      signal.throwIfAborted();
      if (ToolEnvError.isInstance(error)) throw error;
      futile = (await sizeOf(partial)) > before ? 0 : futile + 1;
      if (!(error instanceof Refused) && futile < mostFutile) {
        await wait(firstPause * 2 ** futile, undefined, { signal }).catch(() => {});
        continue;
      }
      const kept = await sizeOf(partial);
      const remains = kept > 0 ? ` ${kept} bytes are kept: run the same command again to continue.` : '';
      const message = `${plan.url} cannot be fetched (${reasonOf(error)}).${remains} ${otherwise}`;
      throw new ToolEnvError('infrastructure.download', message, { cause: error });
    }
  }
}

/** One request: appends what the server sends to the partial file. */
async function fetchRest(
  { url, signal, onProgress }: Download,
  partial: string,
  have: number,
): Promise<void> {
  const silence = new AbortController();
  const timer = setTimeout(() => silence.abort(new Error('no byte for a minute')), longestSilence);
  const validator = have > 0 ? await readValidator(partial, url) : undefined;
  try {
    const response = await fetch(url, {
      signal: AbortSignal.any([signal, silence.signal]),
      headers: {
        'accept-encoding': 'identity',
        // Without a validator the file may have changed in the meantime: it is fetched from its beginning.
        ...(validator && { range: `bytes=${have}-`, 'if-range': validator }),
      },
    });
    const { status, headers, body } = response;
    // The partial file was whole already, or is longer than the file of the server.
    if (status === 416) return await endOrRestart(partial, have, headers.get('content-range'));
    refuse(response);
    const start = status === 206 ? startOf(headers.get('content-range')) : 0;
    if (start !== 0 && start !== have) throw new Refused(`it sent byte ${start} instead of byte ${have}`);
    const length = Number(headers.get('content-length') ?? 0);
    const total = length > 0 ? start + length : 0;
    await writeWhole(`${partial}.json`, `${JSON.stringify({ url, validator: validatorOf(headers) })}\n`);
    await append(partial, start, body!, (bytes) => {
      timer.refresh();
      onProgress(bytes, total);
    });
    const arrived = await sizeOf(partial);
    if (total > 0 && arrived !== total) throw new Error(`${arrived} of ${total} bytes arrived`);
  } finally {
    clearTimeout(timer);
  }
}

/** Throws for an answer that is not the file. */
function refuse({ status, headers, statusText }: Response): void {
  if (status >= 500 || status === 429) throw new Error(`HTTP ${status} ${statusText}`);
  if (status !== 200 && status !== 206) throw new Refused(`HTTP ${status} ${statusText}`);
  // Servers answer with a page that asks for a login or a confirmation.
  if (/^text\/html/i.test(headers.get('content-type') ?? ''))
    throw new Refused('the server sent a page instead of the file');
}

async function append(
  partial: string,
  start: number,
  body: ReadableStream<Uint8Array>,
  onBytes: (bytes: number) => void,
): Promise<void> {
  const handle = await writing(partial, () => open(partial, start === 0 ? 'w' : 'a'));
  try {
    let bytes = start;
    for await (const chunk of body) {
      await writing(partial, () => handle.appendFile(chunk));
      bytes += chunk.length;
      onBytes(bytes);
    }
  } finally {
    await handle.close();
  }
}

async function endOrRestart(partial: string, have: number, range: string | null): Promise<void> {
  if (Number(/\/(\d+)$/.exec(range ?? '')?.[1]) === have) return;
  await rm(partial, { force: true });
  throw new Error('the file has changed on the server');
}

function startOf(range: string | null): number {
  return Number(/^bytes (\d+)-/.exec(range ?? '')?.[1] ?? 0);
}

/** A strong ETag or a date, by which the server can say that the file is the same. */
function validatorOf(headers: Headers): string | undefined {
  const tag = headers.get('etag');
  return (tag?.startsWith('W/') ? undefined : tag) ?? headers.get('last-modified') ?? undefined;
}

async function readValidator(partial: string, url: string): Promise<string | undefined> {
  try {
    const json = JSON.parse(await readFile(`${partial}.json`, 'utf8')) as {
      url?: string;
      validator?: string;
    };
    return json.url === url ? json.validator : undefined;
  } catch {
    return undefined;
  }
}

async function sizeOf(path: string): Promise<number> {
  return (await stat(path).catch(() => undefined))?.size ?? 0;
}

/** `fetch` hides why it failed in the cause. */
function reasonOf(error: unknown): string {
  const { cause } = error as { cause?: unknown };
  return messageOf(cause instanceof Error && cause.message !== '' ? cause : error).replaceAll('\n', ' ');
}
