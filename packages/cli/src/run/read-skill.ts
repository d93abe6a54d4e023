/** readSkill: a skill of a folder, in the form of agentskills.io. */
import { statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { messageOf, ToolEnvError } from '@toolenv/core';
import { readRegular } from '@toolenv/core/files';
import type { Skill } from '@toolenv/core/wrappers';

const file = 'SKILL.md';

/**
 * @param path A folder with SKILL.md, or that file.
 * @throws ToolEnvError `usage.bad_skill` if it cannot be read, has no front matter with a name, or no instructions.
 */
export async function readSkill(path: string): Promise<Skill> {
  const at = statSync(path, { throwIfNoEntry: false })?.isDirectory() === false ? path : join(path, file);
  const text = await readRegular(at).catch((error: unknown) => {
    throw bad(path, `${at} cannot be read (${messageOf(error)}): name a folder with ${file}, or none`);
  });
  const [, matter, body] = /^---\r?\n(.*?)\r?\n---\r?\n(.*)$/s.exec(text.replace(/^\uFEFF/, '')) ?? [];
  const name = /^name:[ \t]*["']?([^"'\r\n]+?)["']?[ \t]*$/m.exec(matter ?? '')?.[1];
  if (name === undefined)
    throw bad(
      path,
      `${at} does not begin with front matter that has a name: ---, name: ${basename(resolve(path))}, ---`,
    );
  if (body!.trim() === '') throw bad(path, `${at} has no instructions below its front matter`);
  return { name, text: body!.trim(), folder: dirname(resolve(at)) };
}

function bad(path: string, why: string): ToolEnvError {
  return new ToolEnvError('usage.bad_skill', `--skill ${path}: ${why}.`);
}
