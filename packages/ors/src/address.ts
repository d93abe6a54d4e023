/** Reads the address of an environment on an ORS server, and the secrets that go to the server. */
import { ToolEnvError } from '@toolenv/core';
import { parseAddress } from '@toolenv/core/remote';
import { registerSecret, shortestSecret } from '@toolenv/core/secrets';

export interface Address {
  /** Base URL of the server, without a slash at its end. */
  url: string;
  /** `undefined` if the address leaves the choice to the server, which then must have one environment. */
  environment: string | undefined;
}

/** @throws ToolEnvError `usage.ors_address`. */
export function readAddress(address: string): Address {
  const { url, name } = parseAddress(address, {
    code: 'usage.ors_address',
    example: 'ors:http://127.0.0.1:8080#my-environment',
    part: 'environment',
    key: 'give a key in the variable ORS_API_KEY',
  });
  if (!url.includes('?')) return { url, environment: name };
  throw new ToolEnvError('usage.ors_address', `"${address}" has a query: leave it out.`);
}

/**
 * The key is in a variable, because options are recorded. Python's servers look for one header, ours for the other.
 * @throws ToolEnvError `usage.ors_key` for a key that no header can hold.
 */
export function keyHeaders(): Record<string, string> {
  const key = registerSecret(process.env.ORS_API_KEY);
  if (key && !/^[\x21-\x7e]+$/.test(key)) {
    throw new ToolEnvError(
      'usage.ors_key',
      'The key in ORS_API_KEY has a space or an accent: copy it again.',
    );
  }
  return key ? { 'x-api-key': key, authorization: `Bearer ${key}` } : {};
}

/** What an environment needs to know and no record may: by name. */
export type Secrets = Readonly<Record<string, string>>;

/**
 * The values of variables.
 * @param given `NAME`, or `name=VARIABLE` if the environment calls the secret something else.
 * @throws ToolEnvError `usage.ors_secret` for a variable that is not set, or too short to be kept out of records.
 */
export function readSecrets(given: readonly string[]): Secrets {
  const entries = given.map((text) => {
    const [name, variable = name] = text.split('=', 2) as [string, string | undefined];
    const value = process.env[variable] ?? '';
    if (value.length >= shortestSecret) return [name, registerSecret(value)] as const;
    const why = value === '' ? 'is empty: set it' : 'is too short to be kept out of records';
    const message = `The variable ${variable} of the secret "${name}" ${why}: it needs ${shortestSecret} characters.`;
    throw new ToolEnvError('usage.ors_secret', message);
  });
  return Object.fromEntries(entries);
}

/** The header in which OpenReward's servers look for secrets: JSON in base64. */
export function secretsHeader(secrets: Secrets): Record<string, string> {
  const named = Object.entries(secrets).map(([name, value]) => [name, { value }]);
  if (named.length === 0) return {};
  const header = Buffer.from(JSON.stringify(Object.fromEntries(named))).toString('base64');
  return { 'x-secrets': registerSecret(header) };
}
