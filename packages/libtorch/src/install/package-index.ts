/** findWheel: a wheel in a package index that has the simple JSON API (PEP 691, PEP 700), such as PyPI. */
import { ToolEnvError } from '@toolenv/core';
import { boundedFetch } from '@toolenv/serving/client';
import type { Pinned } from './wheels.ts';

export const pypi = 'https://pypi.org/simple';

/** A file of an index. */
export interface Wheel {
  file: string;
  url: string;
  bytes: number;
  /** SHA-256 in hexadecimal digits. */
  sha256: string;
}

/** Bytes of the page of a package. PyTorch's has half a million. */
const maxPage = 32 * 2 ** 20;
/** Bytes of a wheel. */
const maxWheel = 4 * 2 ** 30;

export interface IndexOptions {
  /** Address of the index. */
  index: string;
  /** Milliseconds without an answer. */
  silence: number;
  signal: AbortSignal | undefined;
}

/** @throws ToolEnvError `usage.package_index` for an address that is not one of HTTPS. On this machine, HTTP will do. */
export function requireSafe(address: string): void {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  const isLocal = /^(127\.0\.0\.1|localhost|\[::1\])$/.test(url?.hostname ?? '');
  if (url?.protocol === 'https:' || (url?.protocol === 'http:' && isLocal)) return;
  throw new ToolEnvError('usage.package_index', `${address} is no address of HTTPS: give another --index.`);
}

/**
 * A wheel of this version for the system. Any version of Python will do, because its libraries are the same.
 * @param tag Matches the tag of the system.
 * @throws ToolEnvError `infrastructure.package_index` if the index does not answer, or answers otherwise; `usage.package_index` if it has no
 *   such wheel; the signal's reason.
 */
export async function findWheel(
  { name, version }: Pinned,
  tag: RegExp,
  { index, silence, signal }: IndexOptions,
): Promise<Wheel> {
  const page = `${index.replace(/\/+$/, '')}/${name}/`;
  requireSafe(page);
  const { files, address } = await readPage(page, silence, signal);
  // A version with its build, such as 2.15.0+cpu, is the same version.
  const beginning = new RegExp(
    `^${name.replaceAll('-', '[-_.]')}-${version.replaceAll('.', '\\.')}(\\+\\w+)?-`,
    'i',
  );
  const fitting = files.filter(
    ({ filename, yanked }) =>
      beginning.test(filename) &&
      tag.test(filename.replace(/\.whl$/, '')) &&
      filename.endsWith('.whl') &&
      !yanked,
  );
  // The builds for a Python without its lock are rarely tested.
  const found = fitting.find(({ filename }) => !/-cp\d+t-/.test(filename)) ?? fitting[0];
  if (!found) {
    const message = `${page} has no wheel of ${name} ${version} for this system: give another --index.`;
    throw new ToolEnvError('usage.package_index', message);
  }
  const { filename: file, size: bytes, hashes } = found;
  const sha256 = hashes?.sha256?.toLowerCase() ?? '';
  const url = new URL(found.url, address).href;
  requireSafe(url);
  if (!/^[0-9a-f]{64}$/.test(sha256) || !Number.isSafeInteger(bytes) || bytes! <= 0 || bytes! > maxWheel)
    throw refused(page, `it gives no SHA-256 digest and size of ${file}`);
  return { file, url, bytes: bytes!, sha256 };
}

interface IndexFile {
  filename: string;
  url: string;
  size?: number;
  hashes?: { sha256?: string };
  yanked?: unknown;
}

async function readPage(
  page: string,
  silence: number,
  signal: AbortSignal | undefined,
): Promise<{ files: IndexFile[]; address: string }> {
  const limits = [AbortSignal.timeout(silence), ...(signal ? [signal] : [])];
  try {
    const accept = 'application/vnd.pypi.simple.v1+json';
    const response = await boundedFetch(
      page,
      { headers: { accept }, signal: AbortSignal.any(limits) },
      maxPage,
    );
    if (!response.ok) throw new Error(`HTTP ${response.status} ${response.statusText}`.trim());
    if (!/^application\/(vnd\.pypi\.simple\.v1\+)?json/.test(response.headers.get('content-type') ?? ''))
      throw new Error('it has no JSON API (PEP 691)');
    const { files } = (await response.json()) as { files?: unknown };
    const list = Array.isArray(files) ? files : [];
    const isFile = (each: Partial<IndexFile> | null) =>
      typeof each?.filename === 'string' && typeof each.url === 'string' && /^[\w.+-]+$/.test(each.filename);
    return { files: list.filter(isFile), address: response.url || page };
  } catch (error) {
    signal?.throwIfAborted();
    const { name, message, cause } = error as Error;
    const why = name === 'TimeoutError' ? `no answer for ${silence / 1000} seconds` : message;
    throw refused(page, cause instanceof Error && cause.message !== '' ? cause.message : why);
  }
}

function refused(page: string, why: string): ToolEnvError {
  const message = `${page} cannot be used (${why.replaceAll('\n', ' ')}): check the network, or give another --index.`;
  return new ToolEnvError('infrastructure.package_index', message);
}
