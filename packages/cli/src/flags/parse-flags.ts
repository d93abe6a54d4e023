/** parseFlags: the command line of a program that has no commands. */
import type { JsonSchema } from '@toolenv/core';
import type { OptionsOf } from '@toolenv/core/schemas';
import { Command } from 'commander';
import { parseCommandLine } from './command-line.ts';
import { completeFlags, schemaFlags } from './schema-flags.ts';

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
