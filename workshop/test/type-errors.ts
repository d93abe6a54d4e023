/** typeErrors: what tsc says of the TypeScript in a folder of this repository, with the options of its scripts and the declarations of the built packages. */
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { promisify } from 'node:util';
import { repository } from '../../site/pages.ts';

/** @returns Paths in it are relative to the folder. Empty without an error. */
export async function typeErrors(folder: string, compilerOptions: object = {}): Promise<string> {
  const options = {
    extends: relative(folder, join(repository, 'tsconfig.scripts.json')),
    // The packages' own sources need no check here.
    compilerOptions: { customConditions: [], ...compilerOptions },
    include: ['**/*.ts'],
    exclude: [],
  };
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(options));
  const tsc = join(repository, 'node_modules/.bin/tsc');
  const { stdout } = await promisify(execFile)(tsc, ['-p', '.'], { cwd: folder }).catch((error) => {
    // Without a word, tsc did not run.
    if (!error.stdout) throw error;
    return error;
  });
  return stdout;
}
