/** The program `toolenv`: loads the command that was asked for, and runs it. */
import { readFileSync } from 'node:fs';
import { Command } from 'commander';
import type { MakeCommand } from './commands/make-command.ts';
import { parseCommandLine } from './flags/command-line.ts';

/** The usage and the summary of each command: the help lists the commands without loading them. */
export const commands: Readonly<Record<string, readonly [usage: string, summary: string]>> = {
  list: ['[options]', 'list the installed environments, tools, trainers and policies'],
  info: ['[options] <subject>', 'show what an environment, tool, trainer or policy is'],
  eval: ['[options] <environment>', 'score policies in an environment'],
  baseline: ['[options] <environment>', 'score a policy without training: direct, naive RAG, or with tools'],
  train: ['[options] [environment...]', 'improve a policy in an environment'],
  rollout: ['[options] <environment>', 'play episodes as one of many workers'],
  show: ['[options] <run>', 'show the curves and the episodes of a run'],
  view: ['[options] <run...>', 'show runs as a web page, live while they train'],
  play: ['[options] <environment>', "play the policy's part yourself"],
  check: ['[options] <subject>', 'check a plugin, package, checkpoint or trajectories against the spec'],
  tools: ['[options]', 'list the tools of an MCP server, or call one'],
  mcp: ['[options] <action> <url>', 'log in at an MCP server that wants OAuth, or log out'],
  serve: ['[options] [environment]', 'serve an environment to clients of MCP or OpenEnv, or a policy'],
  capture: ['[options]', 'record the conversations that clients have with a server of models'],
  tasks: ['[options] <captured...>', 'make tasks of recorded conversations, split and without duplicates'],
  push: ['[options] <run> <name>', 'upload a trained policy to the Hugging Face Hub'],
  data: ['[options] <name>', 'download a dataset from its authors'],
  index: ['[options] <passages>', 'build a search index from a file of passages'],
  init: ['[options] <folder>', 'make an environment from an MCP server and a task file'],
  doctor: ['[options]', 'show what this machine can compute with'],
};

/** The commands as the help of the program groups them. */
const groups: Readonly<Record<string, readonly string[]>> = {
  'Evaluate and train:': ['list', 'info', 'eval', 'baseline', 'train', 'rollout', 'push'],
  'Look at runs and episodes:': ['show', 'view', 'play'],
  'Build and connect:': ['check', 'init', 'tools', 'mcp', 'serve', 'capture'],
  'Data:': ['data', 'index', 'tasks'],
  'This machine:': ['doctor'],
};

function groupOf(command: string): string {
  return Object.keys(groups).find((group) => groups[group]!.includes(command))!;
}

/** `eval` is in `eval-command.ts`. */
export async function loadCommand(name: string): Promise<MakeCommand> {
  const { make } = await import(`./commands/${name}-command.ts`);
  return make;
}

/** @throws What the command throws; ToolEnvError `usage.*` for a mistake in the command line. */
export async function runProgram(argv: string[], signal: AbortSignal): Promise<void> {
  const program = new Command('toolenv')
    .description('Environments, tools and trainers for language models that use tools.')
    .version(ownVersion(), '--version', 'print the version')
    .helpCommand(false);
  const at = argv.findIndex((word) => !word.startsWith('-'));
  for (const [name, [usage, summary]] of Object.entries(commands)) {
    const command = new Command(name).summary(summary).usage(usage).helpGroup(groupOf(name));
    if (name === argv[at]) {
      const make = await loadCommand(name);
      await make(command, { words: argv.slice(at + 1), signal });
    }
    program.addCommand(command);
  }
  const words = argv.length === 0 ? ['--help'] : argv;
  if (words.includes('--help')) {
    const { arrangeHelp } = await import('./flags/command-help.ts');
    for (const command of [program, ...program.commands]) arrangeHelp(command, words.includes('--all'));
  }
  const unwatch = await followDownloads(argv[at]);
  try {
    await parseCommandLine(program, words);
  } finally {
    unwatch();
  }
}

/** Shows what a command downloads. */
async function followDownloads(command = ''): Promise<() => void> {
  if (!Object.hasOwn(commands, command)) return () => {};
  const { watchDownloads } = await import('@toolenv/core/plugins');
  return watchDownloads(async (plan) => {
    const { showDownload } = await import('./run/show-download.ts');
    return showDownload(plan, { isTraining: command === 'train' });
  });
}

function ownVersion(): string {
  const json: { version: string } = JSON.parse(
    readFileSync(new URL('../package.json', import.meta.url), 'utf8'),
  );
  return json.version;
}
