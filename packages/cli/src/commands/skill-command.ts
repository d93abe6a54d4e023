/** `toolenv skill`: gives coding agents a skill (agentskills.io) that says how to write, check and train an environment. */
import { existsSync } from 'node:fs';
import { cp, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ToolEnvError } from '@toolenv/core';
import { ensureDir, withDiskErrors } from '@toolenv/core/files';
import { Argument } from 'commander';
import type { MakeCommand } from './commands.ts';

/** In the package, beside `src` and `dist`. */
const skill = join(import.meta.dirname, '../../skill/toolenv');
/** Where agents look for skills: many of them, and Claude Code. */
const common = '.agents/skills';
const ofClaude = '.claude/skills';

export const make: MakeCommand = (command) => {
  command
    .description(
      'Adds a skill to a project, which tells coding agents how to write, check and train an environment.',
    )
    .addArgument(new Argument('<action>', 'what to do').choices(['add']))
    .option(
      '--to <folder>',
      `folder of skills (default: ${common}, or ${ofClaude} where there is a folder .claude)`,
    )
    .option('--force', 'replace a skill of this name that has other files')
    .option('--json', 'print one JSON object instead of text');
  command.action(async (_action: 'add', given: { to?: string; force?: boolean; json?: boolean }) => {
    const { to = existsSync('.claude') ? ofClaude : common, force = false, json = false } = given;
    const folder = join(to, 'toolenv');
    const files = (await readdir(skill)).sort();
    const isSame = await Promise.all(files.map((file) => areEqual(join(skill, file), join(folder, file))));
    const changed = files.filter((_file, index) => isSame[index] === false);
    if (changed.length > 0 && !force) {
      const message = `${join(folder, changed[0]!)} is another than this version's: look at what it says, then replace it with --force.`;
      throw new ToolEnvError('usage.skill_exists', message);
    }
    await ensureDir(folder);
    await withDiskErrors(folder, () => cp(skill, folder, { recursive: true }));
    const text = `${folder} has the skill. Coding agents that look into ${to} find it.`;
    process.stdout.write(`${json ? JSON.stringify({ folder, files }) : text}\n`);
  });
};

/** `undefined` if the second file does not exist. */
async function areEqual(file: string, other: string): Promise<boolean | undefined> {
  if (!existsSync(other)) return undefined;
  return (await readFile(file)).equals(await readFile(other));
}
