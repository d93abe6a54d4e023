/** `toolenv init`: writes an environment made of an MCP server and a task file. */
import { Command } from 'commander';
import { importPackage } from '../run/import-package.ts';

/** The part of `@toolenv/mcp` that the command uses. */
interface McpPackage {
  parseServer(text: string): object;
  initMcpEnv(
    folder: string,
    server: object,
    options: { signal: AbortSignal },
  ): Promise<{ ref: string; files: string[] }>;
}

interface Flags {
  mcp: string;
  json?: boolean;
}

export function initCommand(signal: AbortSignal): Command {
  return new Command('init')
    .summary('make an environment of an MCP server and a task file')
    .description('Writes a package: an environment whose tools are an MCP server’s, and a task file to fill.')
    .argument('<folder>', 'new or empty; the package is named after it')
    .requiredOption('--mcp <server>', 'command that starts the server, or URL of its endpoint')
    .option('--json', 'print one JSON object: the reference of the environment, and the files')
    .action((folder: string, flags: Flags) => init(folder, flags, signal));
}

async function init(folder: string, { mcp, json }: Flags, signal: AbortSignal): Promise<void> {
  const { parseServer, initMcpEnv } = await importPackage<McpPackage>('@toolenv/mcp', '--mcp');
  const { ref, files } = await initMcpEnv(folder, parseServer(mcp), { signal });
  const next = `cd ${folder} && npm install && npx toolenv eval ${ref} --policy <folder>`;
  const text = `Wrote ${files.join(', ')}.\nPut tasks of your own into tasks.jsonl, then:\n  ${next}`;
  process.stdout.write(`${json ? JSON.stringify({ ref, files }) : text}\n`);
}
