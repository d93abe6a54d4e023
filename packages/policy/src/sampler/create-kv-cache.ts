/** Chooses where the sampler's key-value cache lives. */
import type { ModelConfig } from '../model/model-config.ts';
import type { Runtime } from '../runtime/runtime.ts';
import { HostKvCache } from './host-kv-cache.ts';
import type { KvCache } from './kv-cache.ts';
import { ResidentKvCache } from './resident-kv-cache.ts';

/** Keeps the cache on the device if the device is other hardware, because copies to it are slow; else in this process. */
export function createKvCache(runtime: Runtime, config: ModelConfig): KvCache {
  return runtime.memory?.isRemote ? new ResidentKvCache(runtime, config) : new HostKvCache(runtime, config);
}
