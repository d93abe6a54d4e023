/** initMcpEnv: writes a package whose environment is an MCP server and a task file with sample tasks. */
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { ToolEnvError } from '@toolenv/core';
import { ensureDir, withDiskErrors } from '@toolenv/core/files';
import { connectMcp } from '../client/connect-mcp.ts';
import type { McpOptions } from '../client/mcp-connection.ts';
import type { McpEndpoint } from '../client/mcp-server.ts';
import { implementation } from '../implementation.ts';
import { namedSecrets } from './named-secrets.ts';
import { sampleTasks } from './sample-tasks.ts';

export interface InitResult {
  /** Reference of the environment, for `toolenv eval` in that folder. */
  ref: string;
  files: string[];
  /** Variables that must be set when the server starts. They stand for the values of `env` and `headers`, and for other secrets. */
  variables: string[];
}

/** A name that npm and references to environments both allow. */
const packageName = /^[a-z0-9][a-z0-9_.-]*$/;

/**
 * Asks the server for its tools and writes the package into a new or empty folder. The package is named after the folder, and
 * names a variable for each value of `env` and `headers` and each argument that looks secret.
 * @throws ToolEnvError `usage.mcp_init` if the folder is not empty or its name is not valid for a package, `usage.folder`,
 *   `infrastructure.disk`, and as {@link connectMcp} does.
 */
export async function initMcpEnv(
  folder: string,
  server: McpEndpoint,
  {
    signal,
    ...options
  }: Pick<
    McpOptions,
    'signal' | 'only' | 'connectTimeout' | 'callTimeout' | 'closeGrace' | 'initialize'
  > = {},
): Promise<InitResult> {
  const name = basename(resolve(folder));
  if (!packageName.test(name)) {
    const message = `A package cannot be named "${name}": choose a folder named with lowercase letters, digits and dashes.`;
    throw new ToolEnvError('usage.mcp_init', message);
  }
  const used = await readdir(folder).catch(() => []);
  if (used.length > 0) {
    throw new ToolEnvError('usage.mcp_init', `${folder} is not empty: choose another folder.`);
  }
  const connection = await connectMcp(server, { ...options, signal });
  const tasks = sampleTasks(connection.tools);
  await connection.close();

  const { server: written, variables } = namedSecrets(server);
  const definition = { name: `${name}-v1`, server: written, ...options };
  const files = {
    'package.json': json(packageJson(name, definition.name)),
    'definition.json': json(definition),
    'tasks.jsonl': tasks.map((task) => `${JSON.stringify(task)}\n`).join(''),
    'env.js': await readFile(new URL('../../template/env.js', import.meta.url), 'utf8'),
  };
  await writePackage(folder, files);
  return { ref: `${name}/${definition.name}`, files: Object.keys(files), variables };
}

/** Removes the files again if one of them cannot be written. */
async function writePackage(folder: string, files: Record<string, string>): Promise<void> {
  await ensureDir(folder);
  try {
    for (const [file, content] of Object.entries(files))
      await withDiskErrors(join(folder, file), () => writeFile(join(folder, file), content));
  } catch (error) {
    for (const file of Object.keys(files)) await rm(join(folder, file), { force: true }).catch(() => {});
    throw error;
  }
}

function packageJson(name: string, env: string): object {
  return {
    name,
    version: '0.1.0',
    private: true,
    keywords: ['toolenv-plugin'],
    type: 'module',
    exports: { './env': './env.js', './package.json': './package.json' },
    toolenv: { spec: 'v1', envs: { [env]: './env' } },
    dependencies: { '@toolenv/mcp': `^${implementation.version}` },
  };
}

function json(value: object): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}
