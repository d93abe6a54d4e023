/** Help fits the terminal. */
import { Command, Option } from 'commander';
import { expect, it } from 'vitest';
import { parseCommandLine } from '../../src/flags/command-line.ts';

it.each([100, 80, 77, 60, 44])('help of %i columns breaks no word', async (width) => {
  const command = new Command('try').description('Tries things that take several words to describe.');
  const description = 'how the learning rate changes after the warm-up of the schedule (default: constant)';
  command.addOption(new Option('--learning-rate-schedule <choice>', description));
  command.addOption(new Option('--seed <n>', description));
  const printed: string[] = [];
  command.configureOutput({ getOutHelpWidth: () => width, writeOut: (text) => printed.push(text) });
  expect(await parseCommandLine(command, ['--help'])).toBe(false);
  const help = printed.join('');
  for (const line of help.split('\n')) expect(line.length, line).toBeLessThanOrEqual(width);
  expect(help.replace(/\s+/g, ' ').split(description)).toHaveLength(3);
});
