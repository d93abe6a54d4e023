/** download: fetches a file over HTTP in pieces that add up, however often the connection drops or the program ends. */
import { existsSync } from 'node:fs';
import { open, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { messageOf, ToolEnvError } from '@toolenv/core';
import { refuseLostFolder, withDiskErrors } from '@toolenv/core/files';
import { PermanentError, persist, RetryLater } from './persist.ts';

export interface Download {
  url: string;
  /** Where the whole file is to be. */
  file: string;
  /** Where its beginning is until then. Default: `<file>.partial`. */
  partial?: string;
  /** What a person can do instead, for errors. */
  otherwise: string;
  /** Sent to the origin of `url`, and to no other host that it redirects to if they authorize. */
  headers?: Readonly<Record<string, string>>;
  /** What is known of the file. Its beginning is then continued whatever the server says of changes, and a longer answer is refused. */
  known?: {
    bytes: number;
    /** Called with the whole file, before it gets its name. What it throws discards the file, and ends the download. */
    check(partial: string): Promise<void>;
  };
  /** The error of an answer that is neither the file nor a passing fault. */
  explain?(response: Response): ToolEnvError | undefined;
  /** Milliseconds without a byte after which a connection counts as lost. Default 60,000. */
  silence?: number;
  signal?: AbortSignal | undefined;
  /** Called as bytes arrive. `total` is 0 while it is not known. */
  onProgress(bytes: number, total: number): void;
}

/**
 * Continues what an earlier call has left, by a Range request, if the server still has the same file.
 * @throws ToolEnvError `infrastructure.download` if the server cannot be reached, refuses, or keeps dropping the connection;
 *   `infrastructure.download_taken` if another process goes on with the file; `infrastructure.disk` on a full disk; what `explain` and `check` give. What has arrived stays for the next call. The signal's reason.
 */
export async function download(plan: Download): Promise<void> {
  const { url, file, partial = `${file}.partial`, known, signal, otherwise } = plan;
  try {
    const progress = () => sizeOf(partial);
    await persist(async () => fetchRest(plan, partial, await progress()), { signal, progress });
    requirePartial(partial);
    await known?.check(partial).catch(async (error: unknown) => {
      requirePartial(partial);
      await rm(partial, { force: true });
      throw error;
    });
  } catch (error) {
    signal?.throwIfAborted();
    if (ToolEnvError.isInstance(error)) throw error;
    const kept = await sizeOf(partial);
    const remains = kept > 0 ? ` ${kept} bytes are kept: run the same command again to continue.` : '';
    const message = `${url} cannot be fetched (${reasonOf(error)}).${remains} ${otherwise}`;
    throw new ToolEnvError('infrastructure.download', message, { cause: error });
  }
  await withDiskErrors(file, () => rename(partial, file)).catch((error: unknown) => {
    requirePartial(partial);
    throw error;
  });
  await rm(`${partial}.json`, { force: true });
}

/** A process that stood still has a successor, which has given the beginning of the file another name. */
function requirePartial(partial: string): void {
  if (existsSync(partial)) return;
  const message = `${partial} is gone: another process goes on with this download.`;
  throw new ToolEnvError('infrastructure.download_taken', message);
}

/** One request: appends what the server sends to the partial file. */
async function fetchRest(plan: Download, partial: string, have: number): Promise<void> {
  const { url, headers: own, known, signal, silence: longestSilence = 60_000, onProgress } = plan;
  if (have === known?.bytes) return;
  if (known && have > known.bytes) return endOrRestart(partial, have, null, known.bytes);
  const silence = new AbortController();
  const seconds = longestSilence / 1000;
  const timer = setTimeout(() => silence.abort(new Error(`no byte for ${seconds} seconds`)), longestSilence);
  const validator = have > 0 && !known ? await readValidator(partial, url) : undefined;
  try {
    const response = await fetch(url, {
      signal: AbortSignal.any([silence.signal, ...(signal ? [signal] : [])]),
      headers: {
        ...own,
        'accept-encoding': 'identity',
        // Without a validator the file may have changed in the meantime: it is fetched from its beginning.
        ...((validator || (known && have > 0)) && { range: `bytes=${have}-` }),
        ...(validator && { 'if-range': validator }),
      },
    });
    const { status, headers, body } = response;
    // The partial file was whole already, or is longer than the file of the server.
    if (status === 416) return await endOrRestart(partial, have, headers.get('content-range'), known?.bytes);
    refuse(response, plan);
    const start = status === 206 ? startOf(headers.get('content-range')) : 0;
    if (start !== 0 && start !== have)
      throw new PermanentError(`it sent byte ${start} instead of byte ${have}`);
    const length = Number(headers.get('content-length') ?? 0);
    const total = known?.bytes ?? (length > 0 ? start + length : 0);
    if (known && length > 0 && start + length !== total)
      throw new PermanentError(`it has ${start + length} bytes, and not ${total}`);
    // The check of a known file says whether its parts belong together.
    const note = `${JSON.stringify({ url, validator: validatorOf(headers) })}\n`;
    if (!known) await withDiskErrors(partial, () => writeFile(`${partial}.json`, note));
    await append(partial, start, body!, (bytes) => {
      if (known && bytes > total) throw new PermanentError(`it sends more than its ${total} bytes`);
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
function refuse(response: Response, { explain, known }: Download): void {
  const { status, headers, statusText } = response;
  if (status === 200 || status === 206) {
    // Servers answer with a page that asks for a login or a confirmation.
    if (!known && /^text\/html/i.test(headers.get('content-type') ?? ''))
      throw new PermanentError('the server sent a page instead of the file');
    return;
  }
  void response.body?.cancel().catch(() => {});
  if (status >= 500 || status === 429) throw new RetryLater(response);
  throw explain?.(response) ?? new PermanentError(`HTTP ${status} ${statusText}`.trim());
}

/** @param onBytes Called before the bytes are written; what it throws ends the download. */
async function append(
  partial: string,
  start: number,
  body: ReadableStream<Uint8Array>,
  onBytes: (bytes: number) => void,
): Promise<void> {
  const handle = await withDiskErrors(partial, () => open(partial, start === 0 ? 'w' : 'a'));
  try {
    let bytes = start;
    for await (const chunk of body) {
      bytes += chunk.length;
      onBytes(bytes);
      await refuseLostFolder(partial);
      requirePartial(partial);
      await withDiskErrors(partial, () => handle.appendFile(chunk));
    }
  } finally {
    await handle.close();
  }
}

async function endOrRestart(
  partial: string,
  have: number,
  range: string | null,
  bytes: number | undefined,
): Promise<void> {
  const total = Number(/\/(\d+)$/.exec(range ?? '')?.[1]);
  if (bytes === undefined && total === have) return;
  await rm(partial, { force: true });
  if (bytes !== undefined && total > 0 && total !== bytes)
    throw new PermanentError(`it has ${total} bytes, and not ${bytes}`);
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
export function reasonOf(error: unknown): string {
  const { cause } = error as { cause?: unknown };
  return messageOf(cause instanceof Error && cause.message !== '' ? cause : error).replaceAll('\n', ' ');
}
