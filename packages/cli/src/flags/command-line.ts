/** Parses command lines, and lays out their help. A mistake becomes an error of one line. */
import { ToolEnvError } from '@toolenv/core/errors';
import { type Command, CommanderError, Help } from 'commander';

/** Width of the column of flags. */
const widest = 34;

/** Long flags get their own line, so that descriptions wrap in 80 columns. */
const helpLayout: Partial<Help> = {
  // Else a terminal of fewer than 78 columns breaks descriptions within their words.
  minWidthToWrap: 10,
  subcommandTerm: (command) => `${command.name()} ${command.usage()}`,
  padWidth(command, helper) {
    const share = Math.floor(0.42 * (helper.helpWidth ?? 80));
    return Math.min(widest, share, Help.prototype.padWidth.call(this, command, helper));
  },
  formatItem(term, width, description, helper) {
    const format = (text: string) => Help.prototype.formatItem.call(this, text, width, description, helper);
    return helper.displayWidth(term) > width ? `  ${term}\n${format('')}` : format(term);
  },
};

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
      .configureHelp({ ...helpLayout, ...command.configureHelp() })
      .showSuggestionAfterError(command === program)
      .helpOption('-h, --help', 'show this help');
  }
  try {
    await program.parseAsync(argv, { from: 'user' });
    return true;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return false;
    const hint =
      error.code === 'commander.unknownOption' ? await didYouMean(program, argv, error.message) : '';
    throw new ToolEnvError('usage.arguments', `${sentence(error.message + hint)} See --help.`);
  }
}

/** Whether the words of a command line ask for help. */
export function asksForHelp(words: readonly string[]): boolean {
  return words.includes('--help') || words.includes('-h');
}

/** ` (Did you mean --steps?)`, or the other commands that have the flag, for the message `error: unknown option '--stepz'` of a command. */
async function didYouMean(program: Command, argv: readonly string[], message: string): Promise<string> {
  const [, flag] = /^error: unknown option '(--[^'=]+)/.exec(message) ?? [];
  const name = argv.find((word) => !word.startsWith('-'));
  const command = program.commands.find((each) => each.name() === name);
  if (flag === undefined || command === undefined) return '';
  const [{ nearestFlags }, { commandsWith }] = await Promise.all([
    import('./nearest-flags.ts'),
    import('../commands/commands.ts'),
  ]);
  const others = await commandsWith(flag, name!);
  if (others.length > 0) return ` (It is a flag of ${others.join(', ')}.)`;
  const near = nearestFlags(
    flag,
    command.options.flatMap(({ long, hidden }) => (long && !hidden ? [long] : [])),
  );
  if (near.length === 0) return '';
  return `\n(Did you mean ${near.length > 1 ? 'one of ' : ''}${near.join(', ')}?)`;
}

/** `error: unknown option '--x'` → `Unknown option '--x'.` */
function sentence(message: string): string {
  const text = message.replace(/^error: /, '').trim();
  const capital = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.?!)]$/.test(capital) ? capital : `${capital}.`;
}
