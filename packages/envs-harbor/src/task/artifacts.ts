/** The artifacts that a task declares: what a fresh verifier gets of the agent's files. */
import { posix } from 'node:path';
import type { Artifact } from './harbor-task.ts';
import type { TaskFile } from './task-file.ts';
import { taskMistake } from './task-mistake.ts';

/** The folder that every task may use without declaring it. */
export const conventional = '/logs/artifacts';

/** Paths in which an artifact could pass for the verifier's own files, or for the machine's. */
const guarded = ['/tests', '/logs/verifier', '/solution', '/proc', '/sys', '/dev'];

/** @throws ToolEnvError `usage.harbor_task` for a path that an artifact must not have. */
export function readArtifacts(file: string, key: string, given: TaskFile['artifacts'] = []): Artifact[] {
  return given.map((entry, index) => {
    const { source, exclude = [] } = typeof entry === 'string' ? { source: entry } : entry;
    const at = `${key}[${index}]`;
    if (!source.startsWith('/') || source.includes('\0') || source.split('/').includes('..'))
      throw taskMistake(file, at, `"${source}" must be an absolute path without ".."`);
    const path = posix.normalize(source).replace(/(.)\/$/, '$1');
    const taken = guarded.find((folder) => within(path, folder) || within(folder, path));
    if (taken !== undefined)
      throw taskMistake(
        file,
        at,
        `"${source}" may not be taken from the agent, because it would replace ${taken}: declare the files that the agent is to make`,
      );
    return { source: path, exclude };
  });
}

/** The declared artifacts behind the conventional folder. */
export function withConventional(declared: readonly Artifact[]): readonly Artifact[] {
  const isDeclared = declared.some(({ source }) => source === conventional);
  return isDeclared ? declared : [{ source: conventional, exclude: [] }, ...declared];
}

function within(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder === '/' ? '/' : `${folder}/`);
}
