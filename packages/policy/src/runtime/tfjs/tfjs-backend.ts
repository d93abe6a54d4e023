/**
 * The backends of TensorFlow.js. They are not in `load-tfjs.ts`, whose declarations need the types of an optional package, because the
 * root entry exports them.
 */

/** `gpu`: native TensorFlow with CUDA; `node`: native TensorFlow on the CPU; `wasm`: WebAssembly. */
export const tfjsBackends = ['gpu', 'node', 'wasm'] as const;
export type TfjsBackend = (typeof tfjsBackends)[number];
