/** Parses references to plugins: `<package>/<name>-v<N>`, for example `@toolenv/envs-qa/bridge-v1`. */
import { existsSync } from 'node:fs';
import { ToolEnvError } from '../protocol/errors.ts';

/** The parts of `<package>/<name>-v<N>`. */
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

/** A path, or a name that ends as a module or a file of episodes does. */
const path = /^\.{0,2}[\\/]|^[A-Za-z]:[\\/]|\.(?:[cm]?[jt]sx?|jsonl?)$/;

/** @throws ToolEnvError `usage.bad_reference` if the text does not have this form; `usage.no_such_file` if it is a path where no file is. */
export function parseReference(reference: string): Reference {
  const match = pattern.exec(reference);
  if (match) return { package: match[1]!, name: match[2]!, version: Number(match[3]) };
  if (path.test(reference) && !existsSync(reference)) {
    const message = `There is no file ${reference}: correct the path, or write <package>/<name>-v<N>, for example @toolenv/envs-qa/bridge-v1.`;
    throw new ToolEnvError('usage.no_such_file', message);
  }
  const message = `"${reference}" is not a reference: write <package>/<name>-v<N>, for example @toolenv/envs-qa/bridge-v1.`;
  throw new ToolEnvError('usage.bad_reference', message);
}

/** A plugin that connects to a server, and the server's address. */
export interface AddressedReference {
  /** `@toolenv/openai/openai-v1` for the scheme `openai`. */
  ref: string;
  /** What follows the scheme: the plugin's option `address`. */
  address: string;
}

/**
 * Parses `<scheme>:<address>`, such as `openai:http://127.0.0.1:8000/v1#qwen3` or `openenv:http://127.0.0.1:8000`. `undefined` for every
 * other name: a URL has `//` behind its scheme, and a single letter is a drive of Windows.
 */
export function parseAddressed(name: string): AddressedReference | undefined {
  const match = /^([a-z][a-z0-9-]+):(?!\/\/)(.+)$/s.exec(name);
  return match ? { ref: `@toolenv/${match[1]}/${match[1]}-v1`, address: match[2]! } : undefined;
}
