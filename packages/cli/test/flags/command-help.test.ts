/** The help of each command: the options that matter first, groups, and examples that are right. */
import { expect, it } from 'vitest';
import { commands } from '../../src/commands/commands.ts';
import { helpTexts } from '../../src/flags/command-help.ts';
import { helpOf, shortHelpOf } from '../help-of.ts';

const { isTTY, columns } = process.stdout;

/** The flags that a help lists. */
function flagsIn(help: string): string[] {
  return [...help.matchAll(/^ {2}(?:-h, )?(--[\w-]+)/gm)].map(([, flag]) => flag!);
}

it.each(Object.keys(commands))('%s has at most ten options first, and examples of its own', async (name) => {
  const { examples } = helpTexts[name]!;
  const first = helpTexts[name]!.first?.split(' ');
  const whole = flagsIn(await helpOf(name));
  if (first === undefined) expect(whole.length).toBeLessThan(15);
  else {
    expect(first.length).toBeLessThanOrEqual(10);
    const short = await shortHelpOf(name);
    expect(flagsIn(short)).toEqual([...first, '--help']);
    const left = whole.length - flagsIn(short).length;
    expect(short).toContain(`${left} more options: toolenv ${name} --help --all`);
  }
  for (const example of examples) {
    expect(example).toMatch(new RegExp(`^toolenv ${name}( |$)`));
    const own = example.match(/(?<= )--[\w-]+/g) ?? [];
    // The options of an environment and of a trainer are listed if the example names them.
    const subject = /@toolenv\/envs[^ ]+/.exec(example)?.[0];
    const trainer = /--trainer \S+/.exec(example)?.[0].split(' ') ?? [];
    const known = subject === undefined ? whole : flagsIn(await helpOf(name, subject, ...trainer));
    expect(known).toEqual(expect.arrayContaining(own));
  }
});

it('lists the options of the named environment first too, and all options in groups', async () => {
  const named = await shortHelpOf('train', '@toolenv/envs-qa/bridge-v1');
  expect(named).toMatch(/Options of @toolenv\/envs-qa\/bridge-v1:\n {2}--world-seed <n>/);
  const whole = await helpOf('train');
  const headings = [...whole.matchAll(/^[A-Z].*:$/gm)].map(([heading]) => heading);
  expect(headings).toEqual([
    'Arguments:',
    'Options:',
    'Environment:',
    'Steps and episodes:',
    'Sampling:',
    'Limits and faults:',
    'Evaluation:',
    'Optimizer:',
    'Advantages:',
    'Loss:',
    'Files:',
    'Options of @toolenv/policy/transformer-v1:',
    'Options of @toolenv/trainer-grpo/grpo-v1:',
    'Examples:',
  ]);
  // Each option once.
  expect(new Set(flagsIn(whole)).size).toBe(flagsIn(whole).length);
});

it.each([60, 80, 120, 200])('fits %i columns', async (width) => {
  Object.assign(process.stdout, { isTTY: true, columns: width });
  try {
    for (const argv of [[], ['train'], ['eval'], ['play'], ['tools']]) {
      const lines = (await shortHelpOf(...argv)).split('\n');
      // A command that is copied is not broken within a word.
      const long = lines.filter((line) => line.length > width && !/^ {4}\S+( \S+)?( \\)?$/.test(line));
      expect(long).toEqual([]);
    }
  } finally {
    Object.assign(process.stdout, { isTTY, columns });
  }
});
