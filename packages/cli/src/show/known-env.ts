/** knownEnv: the environment of a recorded episode, which knows the right answer. */
import { ToolEnvError } from '@toolenv/core';
import { loadPlugin } from '@toolenv/core/plugins';
import type { KnownEnv } from '@toolenv/view';
import { pluginFolders } from '../subject/plugin-folders.ts';

/**
 * @param ref As the episode has it. Only environments of installed packages are loaded, because a file of episodes may name any module.
 * @returns `undefined` if no package has the environment.
 */
export async function knownEnv(ref: string): Promise<KnownEnv | undefined> {
  try {
    return await loadPlugin('envs', ref, { from: pluginFolders() });
  } catch (error) {
    if (ToolEnvError.isInstance(error)) return undefined;
    throw error;
  }
}
