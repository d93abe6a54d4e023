/** Parses references to plugins: `<package>/<name>-v<N>`, for example `@toolenv/envs-qa/bridge-v1`. */
import { ToolEnvError } from '../protocol/errors.ts';

export interface Reference {
  /** npm package, scope included: `@toolenv/envs-qa`. */
  package: string;
  /** Name in the package's manifest, version included: `bridge-v1`. */
  name: string;
  /** Version of the plugin, not of the package. */
  version: number;
}

const pattern =
  /^((?:@[a-z0-9-~][a-z0-9-._~]*\/)?[a-z0-9-~][a-z0-9-._~]*)\/([a-z0-9][a-z0-9_.-]*-v([1-9]\d*))$/;

/** @throws ToolEnvError `usage.bad_reference` if the text does not have this form. */
export function parseReference(reference: string): Reference {
  const match = pattern.exec(reference);
  if (match) return { package: match[1]!, name: match[2]!, version: Number(match[3]) };
  const message = `"${reference}" is not a reference: write <package>/<name>-v<N>, for example @toolenv/envs-qa/bridge-v1.`;
  throw new ToolEnvError('usage.bad_reference', message);
}

/** A plugin that connects to a server, and the server's address. */
export interface AddressedPlugin {
  ref: string;
  /** Default of the plugin's option `address`. */
  address: string;
}

/** `openenv:http://127.0.0.1:8000` is `@toolenv/openenv/openenv-v1` at that address. `undefined` for other references. */
export function addressedPlugin(reference: string): AddressedPlugin | undefined {
  const [, scheme, address] = /^(openenv):(.+)$/.exec(reference) ?? [];
  if (scheme === undefined || address === undefined) return undefined;
  return { ref: `@toolenv/${scheme}/${scheme}-v1`, address };
}
