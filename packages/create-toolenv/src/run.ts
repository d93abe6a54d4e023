/** `npm create toolenv`: asks for what the command line leaves out, and writes the package. */
import { basename, resolve } from 'node:path';
import { createInterface, type Interface } from 'node:readline/promises';
import { parseArgs } from 'node:util';
import {
  checkFolder,
  checkName,
  createPackage,
  type NewPackage,
  ownVersion,
  UsageError,
} from './create-package.ts';
import { type TemplateName, templates } from './templates.ts';

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
