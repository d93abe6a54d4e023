/** readManifest: reads the manifest of an installed package, and refuses manifests that are malformed or for another version. */
import { ToolEnvError } from '../protocol/errors.ts';
import type { Manifest } from '../protocol/manifest.ts';
import { validate } from '../schemas/json-schema.ts';
import { wireSchemas } from '../schemas/wire-schemas.ts';
import type { InstalledPackage } from './installed-package.ts';

/** Characters of the name of a version of the protocol; a longer text is no name. */
const longestSpec = 32;

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
  const [wrong] = validate(wireSchemas.manifest, toolenv);
  if (!wrong) return toolenv as Manifest;
  const message = `${folder}/package.json: toolenv${wrong.path}: expected ${wrong.expected}; received ${wrong.received}.`;
  throw new ToolEnvError('usage.bad_manifest', message);
}
