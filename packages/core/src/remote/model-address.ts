/** Addresses of what servers have, such as `<url>#<model>`, and the keys that servers want. */
import { type ErrorCode, ToolEnvError } from '../protocol/errors.ts';
import { registerSecret } from '../protocol/secrets.ts';

/** A model server, and a model of it. */
export interface ModelAddress {
  /** Without a slash at its end. */
  url: string;
  /** Absent if the address leaves the choice to the server. */
  model?: string;
}

/** What an address names, for errors. */
export interface AddressForm {
  code: ErrorCode;
  /** An address in the form of the command line. */
  example: string;
  /** What is behind `#`, such as `model`. */
  part: string;
  /** Where a key belongs. */
  key: string;
}

/**
 * Parses `<url>#<name>`. The URL has no slash at its end.
 * @throws ToolEnvError with the form's code for another form, and for an address with a password.
 */
export function parseAddress(
  address: string,
  { code, example, part, key }: AddressForm,
): { url: string; name?: string } {
  const [text, name] = address.split(/#(.*)/s, 2) as [string, string | undefined];
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !['http:', 'https:'].includes(url.protocol)) {
    const message = `"${address}" is not the address of ${/^[aeiou]/.test(part) ? 'an' : 'a'} ${part}: write <url>#<${part}>, for example ${example}.`;
    throw new ToolEnvError(code, message);
  }
  if (url.username !== '' || url.password !== '') {
    throw new ToolEnvError(code, `The address has a password: ${key}.`);
  }
  return { url: text.replace(/\/+$/, ''), ...(name && { name }) };
}

/** Parses `http://127.0.0.1:8000/v1#Qwen/Qwen3-0.6B`. Throws as {@link parseAddress} does. */
export function parseModelAddress(
  address: string,
  form: Pick<AddressForm, 'code' | 'example'>,
): ModelAddress {
  const key = 'name the variable of a key with --api-key';
  const { url, name: model } = parseAddress(address, { ...form, part: 'model', key });
  return { url, ...(model && { model }) };
}

/**
 * The key in an environment variable.
 * @param flag Names the variable, in errors.
 * @throws ToolEnvError with `code` if the variable is empty.
 */
export function readKey(variable: string, code: ErrorCode, flag = '--api-key'): string {
  const key = process.env[variable];
  if (key) return registerSecret(key);
  // Whoever gives the key itself must not read it in a log.
  if (
    !/^[A-Za-z_]\w*$/.test(variable) ||
    (variable.length >= 16 && /[a-z]/.test(variable) && /\d/.test(variable))
  ) {
    const message = `${flag} takes the name of an environment variable, such as OPENAI_API_KEY, and this is none: put the key into a variable.`;
    throw new ToolEnvError(code, message);
  }
  throw new ToolEnvError(code, `The variable ${variable} that ${flag} names is empty: set it.`);
}
