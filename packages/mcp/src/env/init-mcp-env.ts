/** initMcpEnv: writes a package whose environment is an MCP server and a task file with sample tasks. */
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { type JsonSchema, type Split, ToolEnvError } from '@toolenv/core';
import { ensureDir, withDiskErrors } from '@toolenv/core/files';
import { resolvePointer, validate } from '@toolenv/core/schemas';
import { connectMcp } from '../client/connect-mcp.ts';
import type { McpOptions } from '../client/mcp-connection.ts';
import { hideInArguments, type McpEndpoint } from '../client/mcp-server.ts';
import type { McpTool } from '../client/mcp-tool.ts';
import { implementation } from '../implementation.ts';
import type { McpTask } from './mcp-task.ts';

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

/**
 * The server, with `${NAME}` in place of each value in `env` and `headers` and of each argument or parameter of the URL that looks secret.
 * @returns Also the names of these variables, which must be set when the server starts.
 */
export function namedSecrets(server: McpEndpoint): { server: McpEndpoint; variables: string[] } {
  const named = new Map<string, string>();
  /** Two secrets with one name, such as two passwords, get two variables. */
  const nameOf = (value: string, name: string): string => {
    const variable = name
      .replace(/([a-z])([A-Z])/g, '$1_$2')
      .replace(/\W/g, '_')
      .toUpperCase();
    const free = [variable, `${variable}_2`, `${variable}_3`];
    const own = free.find((each) => (named.get(each) ?? value) === value) ?? variable;
    named.set(own, value);
    return `\${${own}}`;
  };
  const names = (values: Readonly<Record<string, string>>) =>
    Object.fromEntries(
      Object.entries(values).map(([name, value]) => [
        name,
        /\$\{\w+\}/.test(value) ? value : nameOf(value, name),
      ]),
    );
  const written: McpEndpoint =
    'command' in server
      ? {
          ...server,
          ...(server.args && { args: hideInArguments(server.args, nameOf) }),
          ...(server.env && { env: names(server.env) }),
        }
      : {
          ...server,
          url: hideInArguments([String(server.url)], nameOf)[0]!,
          ...(server.headers && { headers: names(server.headers) }),
        };
  return { server: written, variables: [...named.keys()] };
}

const splits: readonly Split[] = ['test', 'train', 'validation'];
/** Schemas inside of schemas. */
const maxDepth = 6;

/** Leaves out tools that say that they destroy, and tools for which no small arguments are valid. */
export function sampleTasks(tools: readonly McpTool[]): McpTask[] {
  const calls = tools.flatMap(({ name, inputSchema, annotations }) => {
    const args = smallValue(inputSchema, inputSchema, 0);
    const isSafe = annotations?.destructiveHint !== true || annotations.readOnlyHint === true;
    const isValid = validate(inputSchema, args).length === 0;
    return isSafe && isValid ? [{ name, args: args as Record<string, unknown> }] : [];
  });
  return calls.map(({ name, args }, index) => ({
    prompt: `Call ${name} with ${JSON.stringify(args)}. Then answer: done`,
    answer: 'done',
    calls: { [name]: args },
    split: splits[index % splits.length],
  }));
}

/** The example that a schema gives, or else a small value that its common keywords allow. */
function smallValue(schema: JsonSchema, root: JsonSchema, depth: number): unknown {
  if (typeof schema !== 'object' || depth > maxDepth) return undefined;
  if (typeof schema.$ref === 'string') {
    const pointed = schema.$ref.startsWith('#') && resolvePointer(root, schema.$ref.slice(1));
    return pointed ? smallValue(pointed as JsonSchema, root, depth + 1) : undefined;
  }
  const { const: only, enum: named, examples, default: usual } = schema as Record<string, unknown>;
  const given = [only, usual, ...list(examples), ...list(named)].find((value) => value !== undefined);
  if (given !== undefined) return given;
  const [other] = [...list(schema.anyOf), ...list(schema.oneOf), ...list(schema.allOf)];
  if (other && schema.type === undefined) return smallValue(other as JsonSchema, root, depth + 1);
  switch (list(schema.type)[0] ?? schema.type) {
    case 'string':
      return 'text'.padEnd(Number(schema.minLength ?? 0), '.').slice(0, Number(schema.maxLength ?? 1e6));
    case 'integer':
    case 'number':
      return Math.min(
        Number(schema.maximum ?? 1e9),
        Math.max(1, Number(schema.minimum ?? 1), Number(schema.exclusiveMinimum ?? 0) + 1),
      );
    case 'boolean':
      return true;
    case 'null':
      return null;
    case 'array': {
      const item = smallValue((schema.items ?? {}) as JsonSchema, root, depth + 1) ?? 'text';
      return Array.from({ length: Number(schema.minItems ?? 0) }, () => item);
    }
    default: {
      const properties = (schema.properties ?? {}) as Record<string, JsonSchema>;
      const required = list(schema.required) as string[];
      return Object.fromEntries(
        required.map((key) => [key, smallValue(properties[key] ?? {}, root, depth + 1)]),
      );
    }
  }
}

function list(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}
