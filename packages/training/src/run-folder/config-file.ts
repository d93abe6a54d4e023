/** config.json of a run: what it trains, with which options and versions. */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { readJson } from './read-json.ts';
import { writeWhole } from './write-whole.ts';

export const configFile = 'config.json';

/**
 * `undefined` for a folder without the file.
 * @throws ToolEnvError `usage.other_run` for a damaged file.
 */
export function readConfig(out: string): Promise<Record<string, unknown> | undefined> {
  return readJson(join(out, configFile), {
    check(config) {
      if (typeof config === 'object' && config !== null && !Array.isArray(config))
        return config as Record<string, unknown>;
      throw new TypeError('it is not an object');
    },
    code: 'usage.other_run',
    remedy: 'start a run in another folder',
  });
}

export async function writeConfig(out: string, config: Readonly<Record<string, unknown>>): Promise<void> {
  await writeWhole(join(out, configFile), `${JSON.stringify(config, null, 2)}\n`);
}

export async function removeConfig(out: string): Promise<void> {
  await rm(join(out, configFile), { force: true });
}
