/** commandsWith: the commands that have a flag. */
import { Command } from 'commander';
import { commands, loadCommand } from './commands.ts';

/**
 * @param flag `--count`.
 * @param lacking The command that does not have it.
 * @returns Their names; none if that command has the flag too, with other plugins. Where a package is not installed, a command has the flags
 *   that need no package.
 */
export async function commandsWith(flag: string, lacking: string): Promise<string[]> {
  const found: string[] = [];
  for (const name of Object.keys(commands)) {
    const command = new Command(name);
    try {
      await (await loadCommand(name))(command, { words: [], signal: new AbortController().signal });
    } catch {}
    if (command.options.some(({ long, hidden }) => long === flag && !hidden)) found.push(name);
  }
  return found.includes(lacking) ? [] : found;
}
