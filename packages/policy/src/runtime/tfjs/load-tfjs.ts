/** Finds an installed TensorFlow.js. Its packages are optional, because each is large and supports only some machines. */
import { createRequire } from 'node:module';
import util from 'node:util';
import { messageOf, ToolEnvError } from '@toolenv/core';
import { type TfjsBackend, tfjsBackends } from './tfjs-backend.ts';

/** The common part of all packages, with the types of `@tensorflow/tfjs`. */
export type Tfjs = typeof import('@tensorflow/tfjs');

/** The packages of each backend, the package with the operations first, and TensorFlow.js's name of the backend. */
const installations: Record<TfjsBackend, { packages: readonly string[]; name: string }> = {
  gpu: { packages: ['@tensorflow/tfjs-node-gpu'], name: 'tensorflow' },
  node: { packages: ['@tensorflow/tfjs-node'], name: 'tensorflow' },
  wasm: { packages: ['@tensorflow/tfjs', '@tensorflow/tfjs-backend-wasm'], name: 'wasm' },
};

/**
 * Loads the requested backend, or the first that is installed.
 * @throws ToolEnvError `usage.runtime_missing` if it is not installed, `usage.runtime_broken` if it does not load.
 */
export async function loadTfjs(asked?: TfjsBackend): Promise<{ tf: Tfjs; backend: TfjsBackend }> {
  const candidates = asked ? [asked] : tfjsBackends;
  const backend = candidates.find((candidate) => installations[candidate].packages.every(isInstalled));
  if (!backend) {
    const commands = candidates.map(
      (candidate) => `npm install ${installations[candidate].packages.join(' ')}`,
    );
    const message = `TensorFlow.js is not installed for ${candidates.join(', ')}: ${commands.join(', or ')}.`;
    throw new ToolEnvError('usage.runtime_missing', message);
  }
  const { packages, name } = installations[backend];
  try {
    restoreRemovedHelpers();
    return await withoutNewListeners(async () => {
      const [tf] = packages.map((one) => require(one)) as [Tfjs];
      if (!(await tf.setBackend(name))) throw new Error(`its backend "${name}" does not start`);
      return { tf, backend };
    });
  } catch (error) {
    const message = `${packages.at(-1)} is installed but does not load (${messageOf(error)}): install it again, or uninstall it.`;
    throw new ToolEnvError('usage.runtime_broken', message, { cause: error });
  }
}

/** The packages are CommonJS. `require` also finds them through NODE_PATH. */
const require = createRequire(import.meta.url);

function isInstalled(name: string): boolean {
  try {
    require.resolve(name);
    return true;
  } catch {
    return false;
  }
}

/** The loader of WebAssembly prints its own source at every uncaught error of the process: remove its handlers. */
async function withoutNewListeners<T>(load: () => Promise<T>): Promise<T> {
  const events = ['uncaughtException', 'unhandledRejection'];
  const before = events.map((event) => process.rawListeners(event));
  try {
    return await load();
  } finally {
    for (const [index, event] of events.entries()) {
      const added = process.rawListeners(event).filter((listener) => !before[index]!.includes(listener));
      for (const listener of added) process.removeListener(event, listener as () => void);
    }
  }
}

/** tfjs-node 4.22 calls two functions of node:util that Node 23 has removed. */
function restoreRemovedHelpers(): void {
  const helpers: { isNullOrUndefined?: unknown; isArray?: unknown } = util;
  helpers.isNullOrUndefined ??= (value: unknown) => value === null || value === undefined;
  helpers.isArray ??= Array.isArray;
}
