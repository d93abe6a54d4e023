/** Parses command lines. A mistake in a command line becomes an error of one line. */
import { type JsonSchema, ToolEnvError } from '@toolenv/core';
import type { OptionsOf } from '@toolenv/core/schemas';
import { Command, CommanderError } from 'commander';
import { completeFlags, schemaFlags } from './schema-flags.ts';

/**
 * Parses and runs the command's action; `--help` and `--version` print and run nothing.
 * @throws ToolEnvError `usage.arguments` for flags and arguments that the command does not know or lacks.
 * @returns False if the line asked for help or the version, true otherwise.
 */
export async function parseCommandLine(program: Command, argv: readonly string[]): Promise<boolean> {
  for (const command of [program, ...program.commands]) {
    command
      .exitOverride()
      .configureOutput({ outputError: () => {} })
      .helpOption('--help', 'show this help');
  }
  try {
    await program.parseAsync(argv, { from: 'user' });
    return true;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return false;
    throw new ToolEnvError('usage.arguments', `${sentence(error.message)} See --help.`);
  }
}

/**
 * The flags of a program that has no commands, with the schema's defaults; `undefined` if help was asked for.
 * @param argument Names a property that may also be given without its flag.
 * @throws ToolEnvError `usage.arguments` or `usage.bad_flag`.
 */
export async function parseFlags<const Schema extends JsonSchema>(
  schema: Schema,
  {
    name,
    description,
    argv,
    argument,
  }: { name: string; description: string; argv: readonly string[]; argument?: string },
): Promise<OptionsOf<Schema> | undefined> {
  const command = new Command(name).description(description).action(() => {});
  for (const flag of schemaFlags(schema)) command.addOption(flag);
  if (argument !== undefined) command.argument(`[${argument}]`);
  const parsed = await parseCommandLine(command, argv);
  const [word] = command.args;
  const named = argument !== undefined && word !== undefined && { [argument]: word };
  return parsed ? completeFlags(schema, { ...command.opts(), ...named }) : undefined;
}

/** `error: unknown option '--x'` → `Unknown option '--x'.` */
function sentence(message: string): string {
  const text = message.replace(/^error: /, '').trim();
  const capital = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.?!)]$/.test(capital) ? capital : `${capital}.`;
}
