export type { EngineOptions } from './engine-client.ts';
export { type FoundLibtorch, findLibtorch, locateLibtorch } from './find-libtorch.ts';
export {
  type FetchedBy,
  type InstallOptions,
  type InstallPlan,
  planInstall,
} from './install/install-libtorch.ts';
export { type ChosenPrecision, choosePrecision, libtorchEngines } from './libtorch-engines.ts';
export { type LibtorchOptions, type LibtorchRuntime, libtorchRuntime } from './libtorch-runtime.ts';
