/** `npm create toolenv`: asks for what the command line leaves out, and writes the package. */

import { existsSync, readFileSync } from 'node:fs';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { createInterface, type Interface } from 'node:readline/promises';
import { parseArgs } from 'node:util';
import {
  isTemplateFile,
  type TemplateName,
  targetPath,
  templateFolder,
  templatePackage,
  templates,
} from './templates.ts';

const help = `Usage: npm create toolenv [folder] -- [options]

Writes a new package: an environment, a tool or a trainer for language-model agents.

Options:
  --template <name>  ${Object.entries(templates)
    .map(([name, what]) => `${name.padEnd(8)} ${what}`)
    .join(`\n${' '.repeat(21)}`)}
  --name <name>      name of the package (default: the folder's name)
  --json             print one JSON object: folder, name, template and files
  --version          print the version
  --help             show this help

In a terminal, the command asks for what is missing.`;

/**
 * @param args The words after the command's name.
 * @returns The exit code: 2 for a mistake in the arguments, 1 for any other error.
 */
export async function run(args: string[]): Promise<number> {
  try {
    const given = readArguments(args);
    if (given) await create(given);
    return 0;
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    process.stderr.write(`create-toolenv: ${printable(message)}\n`);
    return error instanceof UsageError ? 2 : 1;
  }
}

/** Parses the arguments. Prints the help or the version if the user asked for it, and returns `undefined`. */
function readArguments(args: string[]) {
  const options = {
    template: { type: 'string' },
    name: { type: 'string' },
    json: { type: 'boolean', default: false },
    help: { type: 'boolean' },
    version: { type: 'boolean' },
  } as const;
  let parsed: ReturnType<typeof parseArgs<{ options: typeof options; allowPositionals: true }>>;
  try {
    parsed = parseArgs({ args, options, allowPositionals: true });
  } catch (error) {
    throw new UsageError(`${(error as Error).message.split('. ')[0]}. See --help.`);
  }
  const { values, positionals } = parsed;
  // npm keeps options before -- for itself, and leaves their values.
  const value = process.env.npm_config_template;
  if (values.template === undefined && value !== undefined) {
    const words = positionals.filter((word) => value !== 'true' || !Object.hasOwn(templates, word));
    const template = value === 'true' ? positionals.find((word) => Object.hasOwn(templates, word)) : value;
    const line = ['npm create toolenv', ...words, '-- --template', template ?? '<name>'].join(' ');
    throw new UsageError(`npm has kept --template for itself: write -- before the options, as in ${line}`);
  }
  if (positionals.length > 1) throw new UsageError(`Name one folder, not ${positionals.join(' and ')}.`);
  if (values.help || values.version) {
    process.stdout.write(`${values.help ? help : ownVersion()}\n`);
    return undefined;
  }
  return { folder: positionals[0], template: values.template, name: values.name, json: values.json };
}

type Given = NonNullable<ReturnType<typeof readArguments>>;

async function create({ json, ...given }: Given): Promise<void> {
  const { folder, name, template } = await complete(given);
  const files = await createPackage({ folder, name, template });
  if (json) {
    process.stdout.write(`${JSON.stringify({ folder: resolve(folder), name, template, files })}\n`);
    return;
  }
  const shown = printable(/^[\w./@+-]+$/.test(folder) ? folder : `'${folder}'`);
  const next = [`cd ${shown}`, 'npm install', 'npm test'];
  process.stdout.write(`${name} is in ${shown}. Next:\n\n${next.map((line) => `  ${line}\n`).join('')}`);
}

/** Checks what was given, and asks for the rest. */
async function complete(given: Omit<Given, 'json'>): Promise<NewPackage> {
  if (given.template !== undefined) checkTemplate(given.template);
  const terminal = process.stdin.isTTY
    ? createInterface({ input: process.stdin, output: process.stderr })
    : undefined;
  terminal?.once('SIGINT', () => process.exit(130));
  try {
    const template =
      given.template ??
      (await ask(terminal, '--template <name>', `Template (${Object.keys(templates).join(', ')})`, 'env'));
    checkTemplate(template);
    const folder = given.folder ?? (await ask(terminal, 'a folder', 'Folder', `my-${template}`));
    await checkFolder(folder);
    const name = given.name ?? basename(resolve(folder));
    checkName(name);
    return { folder, name, template };
  } finally {
    terminal?.close();
  }
}

function checkTemplate(name: string): asserts name is TemplateName {
  if (Object.hasOwn(templates, name)) return;
  throw new UsageError(`There is no template "${name}": choose ${Object.keys(templates).join(', ')}.`);
}

async function ask(
  terminal: Interface | undefined,
  missing: string,
  question: string,
  otherwise: string,
): Promise<string> {
  if (!terminal) throw new UsageError(`Give ${missing}: there is no terminal to ask at. See --help.`);
  const answer = await terminal.question(`${question} [${otherwise}]: `);
  return answer.trim() || otherwise;
}

/** Replaces what could control a terminal, control characters and those that reverse text, by its code: `\u001b`. */
function printable(text: string): string {
  return text.replace(/\p{Cc}|[\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu, (character) => {
    const code = character.charCodeAt(0).toString(16).padStart(4, '0');
    return `\\u${code}`;
  });
}

/** A mistake in the arguments. The command prints it in one line and exits with code 2. */
class UsageError extends Error {}

interface NewPackage {
  /** A folder that does not exist or is empty. */
  folder: string;
  /** The npm name: `my-env`, `@me/my-env`. */
  name: string;
  template: TemplateName;
}

/** The usual names among those that npm accepts for new packages (validForNewPackages of validate-npm-package-name). */
const validName = /^(@[a-z0-9][a-z0-9._-]*\/)?[a-z0-9][a-z0-9._-]*$/;

/** @throws UsageError for a name that npm would refuse. */
function checkName(name: string): void {
  if (validName.test(name) && name.length <= 214) return;
  throw new UsageError(
    `A package cannot be named "${name}": use small letters, digits and dashes, such as my-env or @me/my-env.`,
  );
}

/** @throws UsageError for a folder that is not empty, and for a path that is not a folder. */
async function checkFolder(folder: string): Promise<void> {
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
async function createPackage({ folder, name, template }: NewPackage): Promise<string[]> {
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
function ownVersion(): string {
  const json: { version: string } = JSON.parse(
    readFileSync(new URL('../package.json', import.meta.url), 'utf8'),
  );
  return json.version;
}
