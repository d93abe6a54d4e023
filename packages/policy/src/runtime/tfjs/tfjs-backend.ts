/** The backends of TensorFlow.js. */

/** `gpu`: native TensorFlow with CUDA; `node`: native TensorFlow on the CPU; `wasm`: WebAssembly. */
export const tfjsBackends = ['gpu', 'node', 'wasm'] as const;
export type TfjsBackend = (typeof tfjsBackends)[number];
