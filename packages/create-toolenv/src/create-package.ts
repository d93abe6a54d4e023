/** Writes a new package from a template. */
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import {
  isTemplateFile,
  type TemplateName,
  targetPath,
  templateFolder,
  templatePackage,
} from './templates.ts';

/** A mistake in the arguments. The command prints it in one line and exits with code 2. */
export class UsageError extends Error {}

export interface NewPackage {
  /** A folder that does not exist or is empty. */
  folder: string;
  /** The npm name: `my-env`, `@me/my-env`. */
  name: string;
  template: TemplateName;
}

/** The usual names among those that npm accepts for new packages (validForNewPackages of validate-npm-package-name). */
const validName = /^(@[a-z0-9][a-z0-9._-]*\/)?[a-z0-9][a-z0-9._-]*$/;

/** @throws UsageError for a name that npm would refuse. */
export function checkName(name: string): void {
  if (validName.test(name) && name.length <= 214) return;
  throw new UsageError(
    `A package cannot be named "${name}": use small letters, digits and dashes, such as my-env or @me/my-env.`,
  );
}

/** @throws UsageError for a folder that is not empty, and for a path that is not a folder. */
export async function checkFolder(folder: string): Promise<void> {
  if (folder.trim() === '') throw new UsageError('The name of the folder is empty: name a new folder.');
  const used = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw new UsageError(`${folder} cannot be used (${error.message}): name a new folder.`);
  });
  if (used.length > 0) throw new UsageError(`${folder} is not empty: name a new folder.`);
}

/**
 * Writes the package. Removes what it has written if that fails.
 * @returns The paths of the files, relative to the folder.
 * @throws UsageError for the name ({@link checkName}) or the folder ({@link checkFolder}).
 */
export async function createPackage({ folder, name, template }: NewPackage): Promise<string[]> {
  checkName(name);
  await checkFolder(folder);
  const source = templateFolder(template);
  const entries = await readdir(source, { recursive: true, withFileTypes: true });
  const files = entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(source.length + 1))
    .filter(isTemplateFile)
    .sort();
  const written: string[] = [];
  const made = await makeFolder(folder);
  try {
    for (const file of files) {
      const text = (await readFile(join(source, file), 'utf8')).replaceAll(templatePackage(template), name);
      const target = targetPath(file);
      await mkdir(join(folder, dirname(target)), { recursive: true });
      await writeFile(join(folder, target), target === 'package.json' ? packageJson(text) : text);
      written.push(target);
    }
  } catch (error) {
    // A folder that existed was empty.
    const mine = made ? [made] : (await readdir(folder)).map((entry) => join(folder, entry));
    for (const path of mine) await rm(path, { recursive: true, force: true });
    const message = `${folder} cannot be written (${(error as Error).message}): make room, or name another folder.`;
    throw new Error(message, { cause: error });
  }
  return written;
}

/**
 * Makes the folder and its parents. `mkdir` with `recursive` would never end where no folder can be made, as in /proc.
 * @returns The first folder that did not exist; `undefined` if all did.
 * @throws UsageError if the folder cannot be made.
 */
async function makeFolder(folder: string): Promise<string | undefined> {
  const missing: string[] = [];
  for (let each = resolve(folder); !existsSync(each); each = dirname(each)) missing.unshift(each);
  try {
    for (const each of missing) await mkdir(each);
  } catch (error) {
    throw new UsageError(`${folder} cannot be made (${(error as Error).message}): name another folder.`);
  }
  return missing[0];
}

interface PackageJson {
  private?: boolean;
  dependencies: Record<string, string>;
  devDependencies: Record<string, string>;
}

/** The template's package.json without `private`, and with toolenv's packages in the version of this package. */
function packageJson(text: string): string {
  const { private: _, ...json } = JSON.parse(text) as PackageJson;
  for (const dependencies of [json.dependencies, json.devDependencies]) {
    for (const name of Object.keys(dependencies)) {
      if (name === 'toolenv' || name.startsWith('@toolenv/')) dependencies[name] = `^${ownVersion()}`;
    }
  }
  return `${JSON.stringify(json, null, 2)}\n`;
}

/** The version of this package. All packages of toolenv are released together in one version. */
export function ownVersion(): string {
  const json: { version: string } = JSON.parse(
    readFileSync(new URL('../package.json', import.meta.url), 'utf8'),
  );
  return json.version;
}
