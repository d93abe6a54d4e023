/** Where `toolenv engine install libtorch` puts PyTorch's libraries. */
import { join } from 'node:path';
import { cacheFolder } from '@toolenv/core/files';
import { testedVersion } from './torch-versions.ts';

/** It has the folders of Python's `site-packages`, with libraries alone. */
export function installedFolder(): string {
  return join(cacheFolder(), 'libtorch', testedVersion);
}
