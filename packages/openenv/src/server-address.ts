/** Reads the address of an OpenEnv server, and asks it what it serves. */
import { type JsonSchema, messageOf, ToolEnvError } from '@toolenv/core';
import { isObject } from '@toolenv/core/schemas';
import { registerSecret } from '@toolenv/core/secrets';
import { boundedFetch } from '@toolenv/serving/client';

/** Milliseconds that a server has to describe itself. */
const describeTimeout = 30_000;
/** Characters of a description that reach the policy. */
const maxDescriptionLength = 4_000;

export interface ServerDescription {
  url: string;
  description: string;
  /** Schema of its actions; `undefined` if its actions are calls of tools, which it lists. */
  action: JsonSchema | undefined;
}

/** Titles of OpenEnv's own actions for tools. */
const toolActions = ['Action', 'CallToolAction', 'ListToolsAction'];

/**
 * The base URL, without a slash at its end.
 * @throws ToolEnvError `usage.openenv_address`.
 */
export function readAddress(address: string): string {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (!url || !['http:', 'https:'].includes(url.protocol) || url.search !== '' || url.hash !== '') {
    const message = `"${address}" is not the address of an OpenEnv server: write openenv:<url>, for example openenv:http://127.0.0.1:8000.`;
    throw new ToolEnvError('usage.openenv_address', message);
  }
  if (url.username !== '' || url.password !== '') {
    const message = 'The address has a password: give a token in the variable OPENENV_TOKEN.';
    throw new ToolEnvError('usage.openenv_address', message);
  }
  return url.href.replace(/\/+$/, '');
}

/** The token is in a variable, because options are recorded. */
export function accessHeaders(): Record<string, string> {
  const token = registerSecret(process.env.OPENENV_TOKEN);
  return token ? { authorization: `Bearer ${token}` } : {};
}

/** @throws ToolEnvError `infrastructure.openenv_connect`. */
export async function describeServer(url: string): Promise<ServerDescription> {
  const [schema, metadata] = await Promise.all([get(url, '/schema'), get(url, '/metadata')]);
  const { action } = schema;
  if (!isObject(action)) throw cannotUse(url, 'GET /schema has no schema of actions');
  const description = String(metadata.description ?? metadata.name ?? '').slice(0, maxDescriptionLength);
  return { url, description, action: toolActions.includes(String(action.title)) ? undefined : action };
}

async function get(url: string, path: string): Promise<Record<string, unknown>> {
  let answer: unknown;
  try {
    const signal = AbortSignal.timeout(describeTimeout);
    const response = await boundedFetch(url + path, { headers: accessHeaders(), signal });
    if (response.status === 401) throw new Error('status 401: set its token in the variable OPENENV_TOKEN');
    if (!response.ok) throw new Error(`status ${response.status}`);
    answer = await response.json();
  } catch (error) {
    const { cause } = error as { cause?: unknown };
    throw cannotUse(url, `GET ${path}: ${messageOf(error)}${cause ? `: ${messageOf(cause)}` : ''}`, error);
  }
  if (isObject(answer)) return answer;
  throw cannotUse(url, `GET ${path} is not an object`);
}

function cannotUse(url: string, why: string, cause?: unknown): ToolEnvError {
  const message = `The OpenEnv server at ${url} cannot be used: ${why}: check the address and that the server runs.`;
  return new ToolEnvError('infrastructure.openenv_connect', message, { cause });
}
