/** @toolenv/core/plugins: npm packages that offer environments, tools, trainers and policies. */

export { type Manifest, type PluginKind, pluginKinds } from '../protocol/manifest.ts';
export type { PolicyUsage } from '../protocol/turn-usage.ts';
export { changeableOptions, completeOptions } from '../schemas/complete-options.ts';
export {
  type DownloadPlan,
  type DownloadWatch,
  startDownload,
  watchDownloads,
} from './downloads.ts';
export { importRemedy } from './import-remedy.ts';
export {
  allPackages,
  findPackage,
  type InstalledPackage,
  readManifest,
  readPackage,
  resolveExport,
} from './installed-package.ts';
export { namedPolicy, openPolicy, type PolicySource, referencePolicy } from './open-policy.ts';
export type * from './plugin.ts';
export { findPlugin, kindOfPlugin, listPlugins, loadPlugin } from './plugin.ts';
export type * from './policy-definition.ts';
export { definePolicy } from './policy-definition.ts';
export { knownPythons, type PythonPackage, pythonPackages } from './python-packages.ts';
export { parseAddressed, type Reference } from './reference.ts';
export type * from './sandbox-provider.ts';
export { defineSandboxProvider } from './sandbox-provider.ts';
export { openSandboxes } from './sandbox-source.ts';
export type * from './scorer.ts';
export { defineScorer } from './scorer.ts';
export { type ToolSource, toolFactory } from './tool-source.ts';
export type * from './trainer.ts';
