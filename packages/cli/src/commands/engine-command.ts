/** `toolenv engine`: what this machine can compute models with. `toolenv engine install libtorch` fetches PyTorch's libraries. */
import { createInterface } from 'node:readline/promises';
import { ToolEnvError } from '@toolenv/core';
import { Argument, Option } from 'commander';
import { safeLine } from '../display/terminal-text.ts';
import { importPackage } from '../flags/import-optional.ts';
import type { MakeCommand } from './commands.ts';
import { engineReport, engineText } from './engine-report.ts';

interface Flags {
  yes?: boolean;
  by?: 'uv' | 'pip' | 'https';
  index?: string;
  json?: boolean;
}

export const make: MakeCommand = (command, { signal }) => {
  command
    .description(
      "Shows what this machine can compute models with: each library on each device, what it gives, and why it is not available. Tries what is installed, in some seconds. Exit code 1 if nothing is available. With install libtorch, fetches the libraries of PyTorch into the user's folder for caches, unless a Python has them.",
    )
    .addArgument(new Argument('[action]', 'install').choices(['install']))
    .addArgument(new Argument('[name]', 'what to install: libtorch').choices(['libtorch']))
    .option('--yes', 'install without asking')
    .addOption(
      new Option(
        '--by <program>',
        'what fetches PyTorch (default: uv or pip if they are there, else https)',
      ).choices(['uv', 'pip', 'https']),
    )
    .option(
      '--index <url>',
      'package index to fetch from; https needs one with a JSON API (default: that of uv or pip, or https://pypi.org/simple)',
    )
    .option('--json', 'print JSON instead of text')
    .action(async (action: string | undefined, name: string | undefined, flags: Flags) => {
      if (action === undefined) return report(flags, signal);
      if (name === undefined) {
        const message =
          'toolenv engine install: name what to install, as in toolenv engine install libtorch.';
        throw new ToolEnvError('usage.arguments', message);
      }
      return install(flags, signal);
    });
};

async function report({ json }: Flags, signal: AbortSignal): Promise<void> {
  const engines = await engineReport(signal);
  process.stdout.write(`${json ? JSON.stringify(engines) : engineText(engines)}\n`);
  if (!engines.some(({ available }) => available)) process.exitCode = 1;
}

async function install({ yes, by, index, json }: Flags, signal: AbortSignal): Promise<void> {
  const { locateLibtorch, planInstall } = await importPackage('libtorch', 'toolenv engine install libtorch');
  const before = locateLibtorch();
  if (!before) {
    const plan = planInstall({ by, index, signal });
    const size = `${Math.round(plan.bytes / 1e6)} MB`;
    const what = `${plan.packages.join(', ')} (about ${size}) by ${plan.by} into ${plan.folder}. ${plan.licence}.`;
    if (!yes && !(await agrees(`This fetches ${what}`, signal))) {
      const message = `toolenv engine install libtorch would fetch ${what} Give --yes.`;
      throw new ToolEnvError('usage.consent', message);
    }
    if (yes) process.stderr.write(`${safeLine(`Fetching ${what}`)}\n`);
    await plan.run();
  }
  const found = before ?? locateLibtorch()!;
  const version = found.version || 'of unknown version';
  const text = before
    ? `PyTorch ${version} of ${found.source} is here already, and is used: ${found.folder}`
    : `PyTorch ${version} is in ${found.folder}. Use it with --runtime libtorch.`;
  process.stdout.write(`${json ? JSON.stringify({ ...found, installed: !before }) : safeLine(text)}\n`);
}

/** Asks in a terminal. Elsewhere nobody can agree. */
async function agrees(about: string, signal: AbortSignal): Promise<boolean> {
  if (!process.stdin.isTTY || !process.stderr.isTTY) return false;
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const answer = await terminal.question(`${safeLine(about)}\nGo on? [y/N] `, { signal });
    return /^y(es)?$/i.test(answer.trim());
  } finally {
    terminal.close();
  }
}
