/** placeSkill: a skill where an agent looks for its own (agentskills.io). */
import { cp, lstat, mkdir, readFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { ToolEnvError } from '@toolenv/core';
import type { Skill } from '@toolenv/core/wrappers';

/**
 * Writes the skill into a folder of its own below `folder`, with the other files of its folder, if it has one. Links and special files stay
 * behind.
 * @throws ToolEnvError `usage.bad_skill` for a name that is no name of a folder.
 */
export async function placeSkill(folder: string, { name, text, folder: from }: Skill): Promise<void> {
  if (basename(name) !== name || ['', '.', '..'].includes(name)) {
    const message = `The skill ${JSON.stringify(name)} cannot be given to an agent: its name must be the name of a folder.`;
    throw new ToolEnvError('usage.bad_skill', message);
  }
  const place = join(folder, name);
  await mkdir(place, { recursive: true });
  const filter = async (source: string) => {
    const found = await lstat(source);
    return found.isFile() || found.isDirectory();
  };
  if (from !== undefined) await cp(from, place, { recursive: true, filter });
  const file = join(place, 'SKILL.md');
  const given = from === undefined ? '' : await readFile(file, 'utf8');
  const [matter = `---\nname: ${name}\ndescription: ${firstLine(text)}\n---\n`] =
    /^---\r?\n.*?\r?\n---\r?\n/s.exec(given) ?? [];
  await writeFile(file, `${matter}\n${text}\n`);
}

/** Quoted, as YAML has it. */
function firstLine(text: string): string {
  return JSON.stringify(text.split('\n', 1)[0]!.replace(/^#+\s*/, ''));
}
