/** `toolenv init`: writes an environment that consists of an MCP server and a task file. */
import type { JsonSchema } from '@toolenv/core';
import { importPackage, optionalSchema } from '../flags/import-optional.ts';
import { readServer, type ServerFlags, serverFlags } from '../flags/server-flags.ts';
import type { MakeCommand } from './commands.ts';

interface Flags extends ServerFlags {
  json?: boolean;
}

export const make: MakeCommand = async (command, { signal }) => {
  const schema = await optionalSchema('servers');
  command
    .description(
      'Writes a package with an environment that has the tools of an MCP server, and a task file to fill in. Values of --env and --header are not written, nor what looks secret in a command or URL: the definition names a variable for each, which is read when the server starts.',
    )
    .argument('<folder>', 'new or empty folder; the package gets its name');
  for (const flag of serverFlags(schema)) command.addOption(flag);
  command
    .option('--json', 'print one JSON object: the reference of the environment, and the files')
    .action((folder: string, flags: Flags) => init(folder, schema, flags, signal));
};

async function init(folder: string, schema: JsonSchema, flags: Flags, signal: AbortSignal): Promise<void> {
  const { initMcpEnv } = await importPackage('mcp', '--mcp');
  const { server, options } = await readServer(schema, flags);
  const { ref, files, variables } = await initMcpEnv(folder, server, { ...options, signal });
  const next = `cd ${folder} && npm install && npx toolenv eval ${ref} --policy <folder>`;
  const set = variables.length > 0 ? `definition.json has no secrets: set ${variables.join(', ')}.\n` : '';
  const text = `Wrote ${files.join(', ')}.\n${set}Put your own tasks into tasks.jsonl, then:\n  ${next}`;
  process.stdout.write(`${flags.json ? JSON.stringify({ ref, files, variables }) : text}\n`);
}
