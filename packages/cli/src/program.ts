/** The program `toolenv`: loads the command that was asked for, and runs it. */
import { readFileSync } from 'node:fs';
import { Command } from 'commander';
import type { MakeCommand } from './commands/make-command.ts';
import { parseCommandLine } from './flags/command-line.ts';

/** The help lists the commands without loading them. */
interface ListedCommand {
  usage: string;
  summary: string;
  load(): Promise<{ make: MakeCommand }>;
}

export const commands: Readonly<Record<string, ListedCommand>> = {
  list: {
    usage: '[options]',
    summary: 'list the installed environments, tools, trainers and policies',
    load: () => import('./commands/list-command.ts'),
  },
  info: {
    usage: '[options] <subject>',
    summary: 'show what an environment, tool, trainer or policy is',
    load: () => import('./commands/info-command.ts'),
  },
  eval: {
    usage: '[options] <environment>',
    summary: 'score policies in an environment',
    load: () => import('./commands/eval-command.ts'),
  },
  baseline: {
    usage: '[options] <environment>',
    summary: 'score a policy without training: direct, naive RAG, or with tools',
    load: () => import('./commands/baseline-command.ts'),
  },
  train: {
    usage: '[options] [environment...]',
    summary: 'improve a policy in an environment',
    load: () => import('./commands/train-command.ts'),
  },
  rollout: {
    usage: '[options] <environment>',
    summary: 'play episodes as one of many workers',
    load: () => import('./commands/rollout-command.ts'),
  },
  show: {
    usage: '[options] <run>',
    summary: 'show the curves and the episodes of a run',
    load: () => import('./commands/show-command.ts'),
  },
  view: {
    usage: '[options] <run...>',
    summary: 'show runs as a web page, live while they train',
    load: () => import('./commands/view-command.ts'),
  },
  play: {
    usage: '[options] <environment>',
    summary: "play the policy's part yourself",
    load: () => import('./commands/play-command.ts'),
  },
  check: {
    usage: '[options] <subject>',
    summary: 'check a plugin, package, checkpoint or trajectories against the spec',
    load: () => import('./commands/check-command.ts'),
  },
  tools: {
    usage: '[options]',
    summary: 'list the tools of an MCP server, or call one',
    load: () => import('./commands/tools-command.ts'),
  },
  serve: {
    usage: '[options] [environment]',
    summary: 'serve an environment to clients of MCP or OpenEnv',
    load: () => import('./commands/serve-command.ts'),
  },
  data: {
    usage: '[options] <name>',
    summary: "fetch a dataset from its authors' addresses",
    load: () => import('./commands/data-command.ts'),
  },
  index: {
    usage: '[options] <passages>',
    summary: 'make a search index of a file of passages',
    load: () => import('./commands/index-command.ts'),
  },
  init: {
    usage: '[options] <folder>',
    summary: 'make an environment of an MCP server and a task file',
    load: () => import('./commands/init-command.ts'),
  },
  doctor: {
    usage: '[options]',
    summary: 'show what this machine can compute with',
    load: () => import('./commands/doctor-command.ts'),
  },
};

/** @throws What the command throws; ToolEnvError `usage.*` for a mistake in the command line. */
export async function runProgram(argv: string[], signal: AbortSignal): Promise<void> {
  const program = new Command('toolenv')
    .description('Environments, tools and trainers for language models that use tools.')
    .version(ownVersion(), '--version', 'print the version')
    .helpCommand(false)
    .configureHelp({ subcommandTerm: (command) => `${command.name()} ${command.usage()}` });
  const at = argv.findIndex((word) => !word.startsWith('-'));
  for (const [name, { usage, summary, load }] of Object.entries(commands)) {
    const command = new Command(name).summary(summary).usage(usage);
    if (name === argv[at]) {
      const { make } = await load();
      await make(command, { words: argv.slice(at + 1), signal });
    }
    program.addCommand(command);
  }
  await parseCommandLine(program, argv.length === 0 ? ['--help'] : argv);
}

function ownVersion(): string {
  const json: { version: string } = JSON.parse(
    readFileSync(new URL('../package.json', import.meta.url), 'utf8'),
  );
  return json.version;
}
