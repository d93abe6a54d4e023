/** The templates. Each is a real package in the repository's `templates/`, and is published as a part of this package. */
import { existsSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const templates = {
  env: 'an environment: tasks, tools, rewards',
  agent: 'an agent that exists, as an environment',
  tool: 'a tool, for environments with a role for it',
  'mcp-env': 'an environment from an MCP server and a file of tasks',
  trainer: 'a trainer, for every environment and policy',
} as const;

export type TemplateName = keyof typeof templates;

/** The package name that stands in a template's files. A new package gets its own name instead. */
export function templatePackage(template: TemplateName): string {
  return `toolenv-template-${template}`;
}

/** The folder of a template: beside the compiled module, or in the repository where this module runs from source. */
export function templateFolder(template: TemplateName): string {
  const packed = new URL(`templates/${template}`, import.meta.url);
  const ofRepository = new URL(`../../../templates/${template}`, import.meta.url);
  return fileURLToPath(existsSync(packed) ? packed : ofRepository);
}

/** Whether a file or folder of a template belongs to a new package. Output of builds and installs does not. */
export function isTemplateFile(path: string): boolean {
  return !/(^|[\\/])(node_modules|dist|runs|package-lock\.json)([\\/]|$)/.test(path);
}

/** Files that have another name in a template: npm obeys or leaves out a file of the real name when it packs this package. */
const realNames: Record<string, string> = {
  _gitignore: '.gitignore',
  _npmrc: '.npmrc',
  '_package.json': 'package.json',
};

/** The path in a new package of a template's file. Both are relative. */
export function targetPath(path: string): string {
  const name = basename(path);
  return join(dirname(path), realNames[name] ?? name);
}
