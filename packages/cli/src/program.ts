/** The program `toolenv`: loads the command that was asked for, and runs it. */
import { readFileSync } from 'node:fs';
import { ToolEnvError } from '@toolenv/core/errors';
import { Command } from 'commander';
import { commands, loadCommand } from './commands/commands.ts';
import { asksForHelp, parseCommandLine } from './flags/command-line.ts';

/** The commands as the help of the program groups them. */
const groups: Readonly<Record<string, readonly string[]>> = {
  'Evaluate and train:': ['list', 'info', 'eval', 'score', 'baseline', 'train', 'rollout', 'push'],
  'Look at runs and episodes:': ['show', 'view', 'play'],
  'Build and connect:': ['check', 'init', 'tools', 'mcp', 'serve', 'capture', 'skill'],
  'Data:': ['data', 'index', 'tasks'],
  'This machine:': ['doctor', 'engine', 'completion'],
};

function groupOf(command: string): string {
  return Object.keys(groups).find((group) => groups[group]!.includes(command))!;
}

/** @throws What the command throws; ToolEnvError `usage.*` for a mistake in the command line. */
export async function runProgram(given: string[], signal: AbortSignal): Promise<void> {
  const program = new Command('toolenv')
    .description('Environments, tools and trainers for language models that use tools.')
    .version(ownVersion(), '-V, --version', 'print the version')
    .helpCommand(false);
  refuseTilde(given);
  const argv = await withRecordedWords(helpWords(given));
  const at = argv.findIndex((word) => !word.startsWith('-'));
  for (const [name, [usage, summary]] of Object.entries(commands)) {
    const command = new Command(name).summary(summary).usage(usage).helpGroup(groupOf(name));
    if (name === argv[at]) {
      const make = await loadCommand(name);
      await make(command, { words: argv.slice(at + 1), signal });
      const { takeShortNames } = await import('./subject/full-name.ts');
      takeShortNames(command);
    }
    program.addCommand(command);
  }
  if (asksForHelp(argv)) {
    const { arrangeHelp } = await import('./flags/command-help.ts');
    for (const command of [program, ...program.commands]) arrangeHelp(command, argv.includes('--all'));
  }
  const unwatch = await followDownloads(argv[at]);
  try {
    await parseCommandLine(program, argv);
  } finally {
    unwatch();
  }
}

/**
 * A shell replaces `~/` by the home folder only at the beginning of a word without quotes. What it leaves would make a folder named `~`.
 * @throws ToolEnvError `usage.arguments`.
 */
function refuseTilde(words: readonly string[]): void {
  const at = words.findIndex(
    (word, index) => /^(?:--[\w-]+=)?~\//.test(word) && words[index - 1] !== '--text',
  );
  if (at < 0) return;
  const word = words[at]!;
  const message = `${word}: the shell has left ~ as it is. Write "${word.replace('~/', '$HOME/')}".`;
  throw new ToolEnvError('usage.arguments', message);
}

/** A run that is resumed need not be described again. */
async function withRecordedWords(argv: readonly string[]): Promise<readonly string[]> {
  if (argv[0] !== 'train' || !argv.includes('--resume') || asksForHelp(argv)) return argv;
  const { resumedWords } = await import('./commands/resumed-words.ts');
  return ['train', ...(await resumedWords(argv.slice(1)))];
}

/** `help train` is `train --help`, and no words at all ask for help too. */
function helpWords(argv: readonly string[]): readonly string[] {
  const [first, ...rest] = argv;
  const words = first === undefined || first === 'help' ? [...rest, '--help'] : argv;
  const name = words.find((word) => !word.startsWith('-'));
  const isUnknown = name !== undefined && !Object.hasOwn(commands, name);
  // Commander shows the help of the program for an unknown command.
  return isUnknown ? words.filter((word) => !asksForHelp([word])) : words;
}

/** Shows what a command downloads. */
async function followDownloads(command = ''): Promise<() => void> {
  if (!Object.hasOwn(commands, command)) return () => {};
  const { watchDownloads } = await import('@toolenv/core/plugins');
  return watchDownloads(async (plan) => {
    const { showDownload } = await import('./run/memory-check.ts');
    return showDownload(plan, { isTraining: command === 'train' });
  });
}

function ownVersion(): string {
  const json: { version: string } = JSON.parse(
    readFileSync(new URL('../package.json', import.meta.url), 'utf8'),
  );
  return json.version;
}
