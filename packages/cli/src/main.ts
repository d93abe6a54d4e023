#!/usr/bin/env node
/** The `toolenv` command: what was asked for goes to its command, whose errors become exit codes. */
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { Command } from 'commander';
import { checkCommand } from './commands/check-command.ts';
import { doctorCommand } from './commands/doctor-command.ts';
import { evalCommand } from './commands/eval-command.ts';
import { initCommand } from './commands/init-command.ts';
import { listCommand } from './commands/list-command.ts';
import { serveCommand } from './commands/serve-command.ts';
import { toolsCommand } from './commands/tools-command.ts';
import { defaultTrainer, trainCommand, trainerOf } from './commands/train-command.ts';
import { parseCommandLine } from './flags/command-line.ts';
import { runAsProcess } from './run/run-as-process.ts';

await runAsProcess((signal) => main(process.argv.slice(2), signal));

async function main(argv: string[], signal: AbortSignal): Promise<void> {
  const program = new Command('toolenv')
    .description('Environments, tools and trainers for language models that use tools.')
    .version(ownVersion(), '--version', 'print the version')
    .helpCommand(false);
  program.addCommand(listCommand());
  program.addCommand(evalCommand(signal));
  program.addCommand(await trainCommandOf(argv, signal));
  program.addCommand(checkCommand(signal));
  program.addCommand(toolsCommand(signal));
  program.addCommand(serveCommand(signal));
  program.addCommand(initCommand(signal));
  program.addCommand(doctorCommand(signal));
  await parseCommandLine(program, argv.length === 0 ? ['--help'] : argv);
}

/** The flags of `train` are its trainer's, which must be known before they are parsed. */
async function trainCommandOf(argv: string[], signal: AbortSignal): Promise<Command> {
  if (argv[0] !== 'train') return trainCommand(signal, defaultTrainer, undefined);
  const { values } = parseArgs({
    args: argv,
    options: { trainer: { type: 'string', default: defaultTrainer }, help: { type: 'boolean' } },
    strict: false,
  });
  const ref = String(values.trainer);
  return trainCommand(signal, ref, await trainerOf(ref, values.help === true));
}

function ownVersion(): string {
  const json: { version: string } = JSON.parse(
    readFileSync(new URL('../package.json', import.meta.url), 'utf8'),
  );
  return json.version;
}
