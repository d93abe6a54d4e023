/** The program `toolenv`: finds the command that was asked for, and runs it. */
import { readFileSync } from 'node:fs';
import type { JsonSchema } from '@toolenv/core';
import { Command } from 'commander';
import { baselineCommand } from './commands/baseline-command.ts';
import { checkCommand } from './commands/check-command.ts';
import { dataCommand } from './commands/data-command.ts';
import { doctorCommand } from './commands/doctor-command.ts';
import { evalCommand } from './commands/eval-command.ts';
import { httpSchema } from './commands/import-mcp.ts';
import { indexSchema } from './commands/import-search.ts';
import { indexCommand } from './commands/index-command.ts';
import { infoCommand } from './commands/info-command.ts';
import { initCommand } from './commands/init-command.ts';
import { listCommand } from './commands/list-command.ts';
import { playCommand } from './commands/play-command.ts';
import { rolloutCommand } from './commands/rollout-command.ts';
import { serveCommand } from './commands/serve-command.ts';
import { showCommand } from './commands/show-command.ts';
import { toolsCommand } from './commands/tools-command.ts';
import { trainCommand } from './commands/train-command.ts';
import { viewCommand } from './commands/view-command.ts';
import { parseCommandLine } from './flags/command-line.ts';
import { type NamedPlugins, namedPlugins, noPlugins } from './flags/named-plugins.ts';

/** @throws What the command throws; ToolEnvError `usage.*` for a mistake in the command line. */
export async function runProgram(argv: string[], signal: AbortSignal): Promise<void> {
  const program = new Command('toolenv')
    .description('Environments, tools and trainers for language models that use tools.')
    .version(ownVersion(), '--version', 'print the version')
    .helpCommand(false);
  const schemas = { http: await httpSchema(), index: await indexSchema() };
  const bare = commands(signal, noPlugins, schemas);
  const named = await namedPlugins(argv, bare);
  for (const command of commands(signal, named, schemas)) program.addCommand(command);
  await parseCommandLine(program, argv.length === 0 ? ['--help'] : argv);
}

function commands(
  signal: AbortSignal,
  { env, taken, policies, trainer }: NamedPlugins,
  { http, index }: { http: JsonSchema; index: JsonSchema },
): Command[] {
  return [
    listCommand(),
    infoCommand(signal, { env, taken }),
    evalCommand(signal, { env, policies }),
    baselineCommand(signal, { env, policies }),
    trainCommand(signal, { env, policy: policies[0]!, trainer }),
    rolloutCommand(signal, { env, policy: policies[0]! }),
    showCommand(signal),
    viewCommand(signal),
    playCommand(signal, env),
    checkCommand(signal, env),
    toolsCommand(signal),
    serveCommand(signal, env, http),
    dataCommand(signal),
    indexCommand(signal, index),
    initCommand(signal),
    doctorCommand(signal),
  ];
}

function ownVersion(): string {
  const json: { version: string } = JSON.parse(
    readFileSync(new URL('../package.json', import.meta.url), 'utf8'),
  );
  return json.version;
}
