/** The templates: real packages, in the repository's `templates/`, and packed into this one when it is published. */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export const templates = {
  env: 'an environment of your own: tasks, tools, rewards',
  tool: 'a tool, for environments that need one of its role',
  'mcp-env': 'an environment from an MCP server and a file of tasks',
  trainer: 'a trainer, for every environment and policy',
} as const;

export type TemplateName = keyof typeof templates;

export function isTemplate(name: string): name is TemplateName {
  return Object.hasOwn(templates, name);
}

/** The name that a template's own package has wherever it stands. */
export function templatePackage(template: TemplateName): string {
  return `toolenv-template-${template}`;
}

export function templateFolder(template: TemplateName): string {
  const packed = new URL(`../templates/${template}`, import.meta.url);
  const ofRepository = new URL(`../../../templates/${template}`, import.meta.url);
  return fileURLToPath(existsSync(packed) ? packed : ofRepository);
}

/** Whether a file or folder of a template belongs to a new package: not what building and installing leave behind. */
export function isTemplateFile(path: string): boolean {
  return !/(^|[\\/])(node_modules|dist|runs|package-lock\.json)([\\/]|$)/.test(path);
}
