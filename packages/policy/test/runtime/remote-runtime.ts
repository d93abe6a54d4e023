/** A runtime that keeps everything in its own memory, as a GPU does. */
import type { Runtime } from '../../src/runtime/runtime.ts';
import { tfjsRuntime } from '../../src/runtime/tfjs/tfjs-runtime.ts';

export async function remoteRuntime(): Promise<Runtime> {
  const tfjs = await tfjsRuntime({ backend: 'wasm' });
  return { ...tfjs, name: 'remote', memory: { ...tfjs.memory!, isRemote: true } };
}
