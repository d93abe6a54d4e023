/** hubSettings: the variables that Python's huggingface_hub reads too. */
import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { ToolEnvError } from '@toolenv/core';
import { registerSecret } from '@toolenv/core/secrets';

export interface HubSettings {
  /** Without a slash at its end. */
  endpoint: string;
  /** Absent if there is none. It is registered as a secret. */
  token?: string;
  /** Folder of the shared cache. */
  cache: string;
  isOffline: boolean;
  /** Milliseconds without a byte after which a connection counts as lost. */
  silence: number;
}

/**
 * Reads HF_ENDPOINT, HF_TOKEN or the file that `hf auth login` writes, HF_HOME, HF_HUB_CACHE, HF_HUB_OFFLINE and HF_HUB_DOWNLOAD_TIMEOUT.
 * @throws ToolEnvError `usage.hub_settings` for a variable that is not an address or a number.
 */
export async function hubSettings(): Promise<HubSettings> {
  const { env } = process;
  const home = env.HF_HOME || join(env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'huggingface');
  const endpoint = (env.HF_ENDPOINT || 'https://huggingface.co').replace(/\/+$/, '');
  if (!URL.canParse(endpoint) || !/^https?:$/.test(new URL(endpoint).protocol))
    throw badSetting('HF_ENDPOINT', 'it is not the address of a server');
  const seconds = Number(env.HF_HUB_DOWNLOAD_TIMEOUT || 30);
  if (!(seconds > 0 && seconds < 86_400))
    throw badSetting('HF_HUB_DOWNLOAD_TIMEOUT', 'it is not a number of seconds');
  const file = env.HF_TOKEN_PATH || join(home, 'token');
  const text = env.HF_TOKEN || env.HUGGING_FACE_HUB_TOKEN || (await readFile(file, 'utf8').catch(() => ''));
  const token = registerSecret(text.trim());
  return {
    endpoint,
    ...(token !== '' && { token }),
    cache: env.HF_HUB_CACHE || env.HUGGINGFACE_HUB_CACHE || join(home, 'hub'),
    isOffline: [env.HF_HUB_OFFLINE, env.TRANSFORMERS_OFFLINE].some((value) => isTrue(value)),
    silence: 1000 * seconds,
  };
}

function isTrue(value = ''): boolean {
  return ['1', 'on', 'yes', 'true'].includes(value.toLowerCase());
}

function badSetting(name: string, why: string): ToolEnvError {
  return new ToolEnvError(
    'usage.hub_settings',
    `The variable ${name} cannot be used, because ${why}: correct it.`,
  );
}
