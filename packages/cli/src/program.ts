/** The program `toolenv`: finds the command that was asked for, and runs it. */
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
import { trainCommand } from './commands/train-command.ts';
import { parseCommandLine } from './flags/command-line.ts';
import {
  defaultTrainer,
  type NamedPlugin,
  namedPlugin,
  namedPolicy,
  referencePolicy,
  unloaded,
} from './flags/plugin-flags.ts';

/** @throws What the command throws; ToolEnvError `usage.*` for a mistake in the command line. */
export async function runProgram(argv: string[], signal: AbortSignal): Promise<void> {
  const program = new Command('toolenv')
    .description('Environments, tools and trainers for language models that use tools.')
    .version(ownVersion(), '--version', 'print the version')
    .helpCommand(false);
  const { policy, trainer } = await namedPlugins(argv);
  program.addCommand(listCommand());
  program.addCommand(evalCommand(signal, policy));
  program.addCommand(trainCommand(signal, policy, trainer));
  program.addCommand(checkCommand(signal));
  program.addCommand(toolsCommand(signal));
  program.addCommand(serveCommand(signal));
  program.addCommand(initCommand(signal));
  program.addCommand(doctorCommand(signal));
  await parseCommandLine(program, argv.length === 0 ? ['--help'] : argv);
}

/** The options of a policy and a trainer are flags of `eval` and `train`: load both before the flags are parsed. */
async function namedPlugins(
  argv: string[],
): Promise<{ policy: NamedPlugin<'policies'>; trainer: NamedPlugin<'trainers'> }> {
  const command = argv.find((word) => !word.startsWith('-'));
  const isTraining = command === 'train';
  if (!isTraining && command !== 'eval') {
    return { policy: unloaded(referencePolicy), trainer: unloaded(defaultTrainer) };
  }
  const string = { type: 'string' } as const;
  const options = { policy: string, trainer: string, help: { type: 'boolean' } } as const;
  const { values } = parseArgs({ args: argv, strict: false, options });
  const isHelp = values.help === true;
  // A flag without its value is true; commander refuses it.
  const policy = typeof values.policy === 'string' ? values.policy : undefined;
  const trainer = typeof values.trainer === 'string' ? values.trainer : defaultTrainer;
  return {
    policy: await namedPolicy(policy, { isHelp, isTraining }),
    trainer: isTraining ? await namedPlugin('trainers', trainer, { isHelp }) : unloaded(trainer),
  };
}

function ownVersion(): string {
  const json: { version: string } = JSON.parse(
    readFileSync(new URL('../package.json', import.meta.url), 'utf8'),
  );
  return json.version;
}
