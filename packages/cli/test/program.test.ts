/** The program's list of commands agrees with the commands. */
import { expect, it } from 'vitest';
import { commands, madeCommand } from '../src/commands/commands.ts';
import { reservedFlags } from '../src/flags/option-flag.ts';
import { runCli } from './run-cli.ts';

it.each(Object.keys(commands))('%s has the usage that the help of the program shows', async (name) => {
  expect((await madeCommand(name)).usage()).toBe(commands[name]![0]);
});

it('no option of an environment takes the flag of a command that opens environments', async () => {
  const owners = new Map<string, string>();
  for (const name of ['eval', 'baseline', 'train', 'rollout', 'play', 'serve', 'check', 'info']) {
    for (const option of (await madeCommand(name)).options) {
      if (option.helpGroupHeading?.startsWith('Options of @toolenv/')) continue;
      const flag = option.attributeName();
      if (!owners.has(flag)) owners.set(flag, `toolenv ${name}`);
    }
  }
  owners.set('help', 'toolenv').set('version', 'toolenv');
  expect(reservedFlags).toEqual(owners);
});

it('-h, --help and help show the same help, and -V the version', async () => {
  for (const command of [[], ['train']]) {
    const long = await runCli(...command, '--help');
    expect(long).toMatchObject({ code: 0, stderr: '' });
    expect(long.stdout).toContain('-h, --help');
    expect(await runCli(...command, '-h')).toEqual(long);
    expect(await runCli('help', ...command)).toEqual(long);
  }
  expect((await runCli('help', 'train', '--all')).stdout).toContain('--warmup-ratio');
  expect(await runCli('-V')).toEqual(await runCli('--version'));
  expect(await runCli('help', 'nothing')).toMatchObject({
    code: 2,
    stderr: "toolenv: Unknown command 'nothing'. See --help.\n",
  });
});

it('suggests a command for an unknown one', async () => {
  expect(await runCli('evla')).toEqual({
    code: 2,
    stdout: '',
    stderr: "toolenv: Unknown command 'evla' (Did you mean eval?) See --help.\n",
  });
});
