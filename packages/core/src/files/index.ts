/** @toolenv/core/files: reads and writes files and folders so that a full disk, a pipe or a second process is an error with a remedy. */
export { append } from './append.ts';
export { cacheFolder } from './cache-folder.ts';
export { diskError, withDiskErrors } from './disk-errors.ts';
export { ensureDir } from './ensure-dir.ts';
export {
  type FolderLock,
  hasClaim,
  isClaim,
  isFolderLost,
  lockFolder,
  processLiveness,
  processStart,
  refuseLockedFolder,
  refuseLostFolder,
} from './folder-lock.ts';
export { isGzip } from './gzip.ts';
export { type JsonLine, type ReadOptions, readJsonLines, wholeLines } from './jsonl.ts';
export { openRegular, readRegular } from './regular-file.ts';
export { partialOf, removePartials, writeAtomic, writeFolder } from './write-atomic.ts';
