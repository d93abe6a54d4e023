/** @toolenv/core/plugins: npm packages that offer environments, tools, trainers and policies. */

export { type Manifest, type PluginKind, pluginKinds } from '../protocol/manifest.ts';
export { changeableOptions, completeOptions } from '../schemas/complete-options.ts';
export {
  findPackage,
  type InstalledPackage,
  readPackage,
  resolveExport,
} from './installed-package.ts';
export {
  findPlugin,
  kindOfPlugin,
  type LoadedPlugin,
  listPlugins,
  loadPlugin,
  type PluginInfo,
  type PluginTypes,
} from './plugin.ts';
export {
  type ComputeReport,
  type DeviceReport,
  definePolicy,
  type MemoryEstimate,
  type PolicyDefinition,
  type PolicyHandle,
  type PolicyUsage,
} from './policy-definition.ts';
export { readManifest } from './read-manifest.ts';
export { type AddressedReference, parseAddressed, parseReference, type Reference } from './reference.ts';
export { type ToolSource, toolFactory } from './tool-source.ts';
export type { Metrics, Run, TokenReport, TrainEvent, Trainer } from './trainer.ts';
export type { PartKind, TrainerPart } from './trainer-part.ts';
