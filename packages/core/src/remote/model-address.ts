/** Addresses of models on servers, `<url>#<model>`, and the keys that servers want. */
import { type ErrorCode, ToolEnvError } from '../protocol/errors.ts';
import { keepSecret } from '../protocol/secrets.ts';

export interface ModelAddress {
  /** Without a slash at its end. */
  url: string;
  /** Absent if the address leaves the choice to the server. */
  model?: string;
}

/**
 * Parses `http://127.0.0.1:8000/v1#Qwen/Qwen3-0.6B`.
 * @param example An address in the form of the command line, for errors.
 * @throws ToolEnvError with `code` for another form, and for an address with a password.
 */
export function parseModelAddress(
  address: string,
  { code, example }: { code: ErrorCode; example: string },
): ModelAddress {
  const [text, model] = address.split(/#(.*)/s, 2) as [string, string | undefined];
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !['http:', 'https:'].includes(url.protocol)) {
    const message = `"${address}" is not the address of a model: write <url>#<model>, for example ${example}.`;
    throw new ToolEnvError(code, message);
  }
  if (url.username !== '' || url.password !== '') {
    const message = 'The address has a password: name the variable of a key with --api-key.';
    throw new ToolEnvError(code, message);
  }
  return { url: text.replace(/\/+$/, ''), ...(model && { model }) };
}

/**
 * The key in an environment variable.
 * @throws ToolEnvError with `code` if the variable is empty.
 */
export function readKey(variable: string, code: ErrorCode): string {
  const key = process.env[variable];
  if (key) return keepSecret(key);
  throw new ToolEnvError(code, `The variable ${variable} that --api-key names is empty: set it.`);
}
