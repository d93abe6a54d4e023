/** What is downloaded, for whoever shows it: the command line draws a bar, and may refuse a model before its weights come. */
import type { MemoryEstimate } from './policy-definition.ts';

/** What a download will fetch. */
export interface DownloadPlan {
  /** `owner/name` of the repository. */
  name: string;
  /** Its commit. */
  revision: string;
  /** Bytes that are not on this machine yet. */
  bytes: number;
  /** What training the model needs; absent if it is not a model, or if only its tokenizer is fetched. */
  memory?: MemoryEstimate | undefined;
}

/** Follows a download. */
export interface DownloadWatch {
  /** @param bytes So far. A damaged file begins again, and takes its bytes back. */
  progress(bytes: number): void;
  /** The download ended, well or not. */
  end(): void;
}

/** Is told of a download before it begins. */
export type DownloadWatcher = (plan: DownloadPlan) => DownloadWatch | Promise<DownloadWatch>;

/** Every copy of this package in a process has the same watcher. */
const shared = globalThis as { [key: symbol]: DownloadWatcher | undefined };
const key = Symbol.for('toolenv.downloads');

/**
 * Calls `watcher` before each download of this process. What it throws ends the download. One watcher at a time.
 * @returns Ends the watch.
 */
export function watchDownloads(watcher: DownloadWatcher): () => void {
  shared[key] = watcher;
  return () => {
    if (shared[key] === watcher) shared[key] = undefined;
  };
}

/** Tells the watcher of a download that begins. @throws What the watcher throws. */
export async function startDownload(plan: DownloadPlan): Promise<DownloadWatch> {
  return (await shared[key]?.(plan)) ?? { progress() {}, end() {} };
}
