/** `toolenv init`: writes an environment that consists of an MCP server and a task file. */
import { Command } from 'commander';
import { importMcp } from './import-mcp.ts';

interface Flags {
  mcp: string;
  json?: boolean;
}

export function initCommand(signal: AbortSignal): Command {
  return new Command('init')
    .summary('make an environment of an MCP server and a task file')
    .description(
      "Writes a package with an environment that has an MCP server's tools, and a task file to fill.",
    )
    .argument('<folder>', 'new or empty; the package is named after it')
    .requiredOption('--mcp <server>', 'command that starts the server, or URL of its endpoint')
    .option('--json', 'print one JSON object: the reference of the environment, and the files')
    .action((folder: string, flags: Flags) => init(folder, flags, signal));
}

async function init(folder: string, { mcp, json }: Flags, signal: AbortSignal): Promise<void> {
  const { parseServer, initMcpEnv } = await importMcp('--mcp');
  const { ref, files } = await initMcpEnv(folder, parseServer(mcp), { signal });
  const next = `cd ${folder} && npm install && npx toolenv eval ${ref} --policy <folder>`;
  const text = `Wrote ${files.join(', ')}.\nPut your own tasks into tasks.jsonl, then:\n  ${next}`;
  process.stdout.write(`${json ? JSON.stringify({ ref, files }) : text}\n`);
}
