/** The program `toolenv`: finds the command that was asked for, and runs it. */
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { Command } from 'commander';
import { checkCommand } from './commands/check-command.ts';
import { doctorCommand } from './commands/doctor-command.ts';
import { evalCommand } from './commands/eval-command.ts';
import { infoCommand } from './commands/info-command.ts';
import { initCommand } from './commands/init-command.ts';
import { listCommand } from './commands/list-command.ts';
import { serveCommand } from './commands/serve-command.ts';
import { showCommand } from './commands/show-command.ts';
import { toolsCommand } from './commands/tools-command.ts';
import { trainCommand } from './commands/train-command.ts';
import { parseCommandLine } from './flags/command-line.ts';
import { type NamedEnv, namedEnv, noEnv, type TakenFlags } from './flags/env-flags.ts';
import { firstArgument } from './flags/first-argument.ts';
import {
  defaultTrainer,
  type NamedPlugin,
  namedPlugin,
  namedPolicy,
  referencePolicy,
  unloaded,
} from './flags/plugin-flags.ts';
import { schemaFlags } from './flags/schema-flags.ts';

/** The plugins that the command line names. */
interface NamedPlugins {
  env: NamedEnv;
  /** The flags that exist without those of the environment. */
  taken: TakenFlags;
  policy: NamedPlugin<'policies'>;
  trainer: NamedPlugin<'trainers'>;
}

const noPlugins: NamedPlugins = {
  env: noEnv,
  taken: new Map(),
  policy: unloaded(referencePolicy),
  trainer: unloaded(defaultTrainer),
};

/** @throws What the command throws; ToolEnvError `usage.*` for a mistake in the command line. */
export async function runProgram(argv: string[], signal: AbortSignal): Promise<void> {
  const program = new Command('toolenv')
    .description('Environments, tools and trainers for language models that use tools.')
    .version(ownVersion(), '--version', 'print the version')
    .helpCommand(false);
  const bare = commands(signal, noPlugins);
  const named = await namedPlugins(argv, bare);
  for (const command of commands(signal, named)) program.addCommand(command);
  await parseCommandLine(program, argv.length === 0 ? ['--help'] : argv);
}

function commands(signal: AbortSignal, { env, taken, policy, trainer }: NamedPlugins): Command[] {
  return [
    listCommand(),
    infoCommand(signal, { env, taken }),
    evalCommand(signal, { env, policy }),
    trainCommand(signal, { env, policy, trainer }),
    showCommand(signal),
    checkCommand(signal, env),
    toolsCommand(signal),
    serveCommand(signal, env),
    initCommand(signal),
    doctorCommand(signal),
  ];
}

/** The commands that open an environment. Those of `paths` take an environment that is not published, too. */
const opening = ['eval', 'train', 'serve', 'check', 'info'];
const paths = ['check', 'info'];

/** The options of plugins are flags: load the plugins before the flags are parsed. */
async function namedPlugins(argv: string[], bare: readonly Command[]): Promise<NamedPlugins> {
  const at = argv.findIndex((word) => !word.startsWith('-'));
  const command = bare.find((each) => each.name() === argv[at]);
  if (!command || !opening.includes(command.name())) return noPlugins;
  const string = { type: 'string' } as const;
  const options = { policy: string, trainer: string, help: { type: 'boolean' } } as const;
  const { values } = parseArgs({ args: argv, strict: false, options });
  const isHelp = values.help === true;
  const isTraining = command.name() === 'train';
  // A flag without its value is true; commander refuses it.
  const name = typeof values.policy === 'string' ? values.policy : undefined;
  const policy =
    isTraining || command.name() === 'eval'
      ? await namedPolicy(name, { isHelp, isTraining })
      : noPlugins.policy;
  const trainer = isTraining
    ? await namedPlugin('trainers', typeof values.trainer === 'string' ? values.trainer : defaultTrainer, {
        isHelp,
      })
    : noPlugins.trainer;
  const taken = takenFlags(bare, [policy, trainer]);
  const env = await namedEnv(firstArgument(command, argv.slice(at + 1)), {
    isHelp,
    takesPaths: paths.includes(command.name()),
    taken,
  });
  return { env, taken, policy, trainer };
}

/** A flag of any command that opens environments counts, so that an option of an environment has one flag in all of them. */
function takenFlags(bare: readonly Command[], plugins: readonly NamedPlugin[]): Map<string, string> {
  const taken = new Map([
    ['help', 'toolenv'],
    ['version', 'toolenv'],
  ]);
  const add = (name: string, owner: string) => taken.has(name) || taken.set(name, owner);
  for (const command of bare.filter((each) => opening.includes(each.name())))
    for (const option of command.options) add(option.attributeName(), `toolenv ${command.name()}`);
  for (const { ref, flags } of plugins) for (const flag of schemaFlags(flags)) add(flag.attributeName(), ref);
  return taken;
}

function ownVersion(): string {
  const json: { version: string } = JSON.parse(
    readFileSync(new URL('../package.json', import.meta.url), 'utf8'),
  );
  return json.version;
}
