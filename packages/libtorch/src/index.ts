export { findLibtorch } from './find-libtorch.ts';
export { type LibtorchOptions, type LibtorchRuntime, libtorchRuntime } from './libtorch-runtime.ts';
