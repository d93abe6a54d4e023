/** Which word of a command line is its argument, before all flags are known. */
import { join } from 'node:path';
import { Command, Option } from 'commander';
import { expect, test } from 'vitest';
import { firstArgument } from '../../src/flags/first-argument.ts';

const command = new Command('train').option('--out <folder>', '').option('--json', '');
const file = join(import.meta.dirname, 'first-argument.test.ts');

test('the value of a flag that comes later is no argument, even if it is a path', () => {
  const data = new Option('--data <text>', '');
  expect(firstArgument(command, ['--data', file, '--out', 'x'], [data])).toBeUndefined();
  expect(firstArgument(command, ['--data', file, 'a/b-v1'], [data])).toBe('a/b-v1');
});

test('the value of an unknown flag counts only if no other word does', () => {
  expect(firstArgument(command, ['--data', file, '--out', 'x'])).toBe(file);
  expect(firstArgument(command, ['--json', 'a/b-v1'])).toBe('a/b-v1');
});
