import { expect, it } from 'vitest';
import { parseFlags } from '../../src/index.ts';

const schema = {
  type: 'object',
  properties: {
    recipe: { enum: ['bridge', 'comparison'], default: 'bridge' },
    threads: { type: 'integer', minimum: 1 },
  },
} as const;

const parse = (argv: readonly string[], argument?: string) =>
  parseFlags(schema, { name: 'make', description: 'Makes a policy.', argv, ...(argument && { argument }) });

it.each([
  { argv: [], flags: { recipe: 'bridge' } },
  { argv: ['comparison'], flags: { recipe: 'comparison' } },
  { argv: ['--threads', '2', 'comparison'], flags: { recipe: 'comparison', threads: 2 } },
  { argv: ['--recipe', 'comparison'], flags: { recipe: 'comparison' } },
])('a property may be given without its flag: $argv', async ({ argv, flags }) => {
  expect(await parse(argv, 'recipe')).toEqual(flags);
});

it.each([
  { argv: ['nothing'], argument: 'recipe', message: '--recipe nothing: give bridge or comparison.' },
  {
    argv: ['bridge', 'comparison'],
    argument: 'recipe',
    message: 'Too many arguments. Expected 1 argument but got 2. See --help.',
  },
  {
    argv: ['bridge'],
    argument: undefined,
    message: 'Too many arguments. Expected 0 arguments but got 1. See --help.',
  },
])('refuses $argv where the argument is $argument', async ({ argv, argument, message }) => {
  const refused = { message, code: expect.stringMatching(/^usage\./) };
  await expect(parse(argv, argument)).rejects.toMatchObject(refused);
});
