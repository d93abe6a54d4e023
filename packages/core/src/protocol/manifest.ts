/** Manifest: the `"toolenv"` field of a package.json, which lists the plugins of the package and their files. */

/** The kinds of plugins, as manifests name them. */
export const pluginKinds = [
  'envs',
  'tools',
  'sandboxes',
  'trainers',
  'losses',
  'advantages',
  'scorers',
  'policies',
] as const;
/** A kind of plugin. */
export type PluginKind = (typeof pluginKinds)[number];

/**
 * The version of the protocol and, for each kind of plugin, name → export subpath of the package
 * (`"bridge-v1": "./bridge-v1"`). The default export of that file is the plugin.
 */
export type Manifest = { spec: 'v1' } & Partial<Record<PluginKind, Record<string, string>>>;
