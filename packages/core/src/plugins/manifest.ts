/** The manifest: the `"toolenv"` field of a plugin's package.json, which lists its plugins and their files. */
import { ToolEnvError } from '../protocol/errors.ts';
import { type JsonSchema, validate } from '../schemas/json-schema.ts';
import type { InstalledPackage } from './installed-package.ts';

/** The kinds of plugins, as manifests name them. */
export const pluginKinds = ['envs', 'tools', 'trainers', 'losses', 'advantages', 'policies'] as const;
/** A kind of plugin. */
export type PluginKind = (typeof pluginKinds)[number];

/**
 * The version of the protocol and, for each kind of plugin, name → export subpath of the package
 * (`"bridge-v1": "./bridge-v1"`). The default export of that file is the plugin.
 */
export type Manifest = { spec: 'v1' } & Partial<Record<PluginKind, Record<string, string>>>;

const entries: JsonSchema = {
  type: 'object',
  propertyNames: { pattern: '^[a-z0-9][a-z0-9_.-]*-v[1-9][0-9]*$' },
  additionalProperties: { type: 'string', pattern: '^\\./(?!.*\\.\\.)' },
};
/** Characters of the name of a version of the protocol; a longer text is no name. */
const longestSpec = 32;

/** Schema of the `"toolenv"` field. */
export const manifestSchema: JsonSchema = {
  type: 'object',
  required: ['spec'],
  properties: { spec: { const: 'v1' }, ...Object.fromEntries(pluginKinds.map((kind) => [kind, entries])) },
  additionalProperties: false,
};

/**
 * The manifest of a package, or `undefined` if the package has none.
 * @throws ToolEnvError `usage.spec_version` if it is for another version of the protocol, `usage.bad_manifest` if it is
 *   malformed.
 */
export function readManifest({ name, json, folder }: InstalledPackage): Manifest | undefined {
  const { version, toolenv } = json;
  if (toolenv === undefined) return undefined;
  const spec: unknown = (toolenv as Partial<Manifest> | null)?.spec;
  if (typeof spec === 'string' && spec !== 'v1' && spec.length <= longestSpec) {
    const message = `${name}@${version} speaks toolenv spec ${spec}, and this toolenv speaks v1: install a version of the package for v1, or update toolenv.`;
    throw new ToolEnvError('usage.spec_version', message);
  }
  const [wrong] = validate(manifestSchema, toolenv);
  if (!wrong) return toolenv as Manifest;
  const message = `${folder}/package.json: toolenv${wrong.path}: expected ${wrong.expected}; received ${wrong.received}.`;
  throw new ToolEnvError('usage.bad_manifest', message);
}
