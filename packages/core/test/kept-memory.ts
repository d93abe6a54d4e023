/** keptMemory: the bytes that this process keeps after a garbage collection. Node frees buffers some time after it. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

export function keptMemory(): number {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
