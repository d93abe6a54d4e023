/** The commands of the program. The file of a command is loaded only for it. */
import { Command } from 'commander';

/** The usage and the summary of each command: the help lists the commands without loading them. */
export const commands: Readonly<Record<string, readonly [usage: string, summary: string]>> = {
  list: ['[options]', 'list the installed environments, tools, trainers and policies'],
  info: ['[options] <subject>', 'show what an environment, tool, trainer or policy is'],
  eval: ['[options] <environment>', 'score policies in an environment'],
  score: ['[options] <run>', 'score the episodes of a run again, under other rewards'],
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
  capture: ['[options]', 'record the traffic between clients and a model server'],
  tasks: ['[options] <captured...>', 'make tasks of recorded conversations, split and without duplicates'],
  push: ['[options] <run> <name>', 'upload a trained policy to the Hugging Face Hub'],
  data: ['[options] <name>', 'download a dataset from its authors'],
  index: ['[options] <passages>', 'build a search index from a file of passages'],
  init: ['[options] <folder>', 'make an environment from an MCP server and a task file'],
  skill: ['[options] <action>', 'tell coding agents how to write, check and train an environment'],
  doctor: ['[options]', 'show the available devices'],
  engine: ['[options] [action] [name]', 'show what this machine can compute models with, or add to it'],
  completion: ['[options] <shell>', 'print a script that completes commands in bash, zsh or fish'],
};

/** `eval` is in `eval-command.ts`. */
export async function loadCommand(name: string): Promise<MakeCommand> {
  const { make } = await import(`./${name}-command.ts`);
  return make;
}

/**
 * A command that is read, not run: its arguments and flags, with those of the plugins that the words name.
 * @throws What loading a plugin throws.
 */
export async function madeCommand(name: string, words: readonly string[] = []): Promise<Command> {
  const command = new Command(name);
  const make = await loadCommand(name);
  await make(command, { words, signal: new AbortController().signal });
  return command;
}

/**
 * Gives the command its description, arguments, flags and action.
 * @param words The words after the command's name: they may name plugins, whose options are flags too.
 */
export type MakeCommand = (
  command: Command,
  context: { words: readonly string[]; signal: AbortSignal },
) => void | Promise<void>;

/**
 * The commands that have a flag.
 * @param flag `--count`.
 * @param lacking The command that does not have it.
 * @returns Their names; none if that command has the flag too, with other plugins. Where a package is not installed, a command has the flags
 *   that need no package.
 */
export async function commandsWith(flag: string, lacking: string): Promise<string[]> {
  const found: string[] = [];
  for (const name of Object.keys(commands)) {
    const command = new Command(name);
    try {
      await (await loadCommand(name))(command, { words: [], signal: new AbortController().signal });
    } catch {}
    if (command.options.some(({ long, hidden }) => long === flag && !hidden)) found.push(name);
  }
  return found.includes(lacking) ? [] : found;
}
