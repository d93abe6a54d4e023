/** outOfMemory: tells a lack of memory, after which the engine goes on, from other errors. */
import { messageOf, ToolEnvError } from '@toolenv/core';

/** Of libtorch's allocators for the CPU and for CUDA, of C++, and of V8. */
const signs = /can't allocate memory|out of memory|std::bad_alloc|Array buffer allocation failed/i;

/** ToolEnvError `infrastructure.out_of_memory` in the place of an error that means it. */
export function outOfMemory(error: unknown): ToolEnvError | undefined {
  const message = messageOf(error);
  if (!signs.test(message)) return undefined;
  const [, operator = 'a tensor'] = /^([\w:]+): /.exec(message) ?? [];
  const [, bytes] = /allocate (\d+) bytes/.exec(message) ?? [];
  const [, size = bytes && megabytes(Number(bytes))] = /allocate ([\d.]+ \wiB)/.exec(message) ?? [];
  const what = `PyTorch lacks memory for ${operator}${size ? ` (${size})` : ''}`;
  return new ToolEnvError('infrastructure.out_of_memory', `${what}: use smaller batches or a smaller model.`);
}

function megabytes(bytes: number): string {
  return `${(bytes / 2 ** 20).toFixed(1)} MiB`;
}
