import { ToolEnvError } from '@toolenv/core';
import { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { flagName } from '../../src/display/terminal-text.ts';
import { completeFlags, readFlags, readPairs, schemaFlags } from '../../src/flags/schema-flags.ts';

const schema = {
  type: 'object',
  additionalProperties: false,
  properties: {
    groupSize: { type: 'integer', minimum: 2, default: 8, description: 'episodes of each task' },
    learningRate: { type: 'number', exclusiveMinimum: 0, maximum: 1 },
    clip: {
      type: 'array',
      items: { type: 'number', minimum: 0 },
      minItems: 2,
      maxItems: 2,
      default: [0.2, 0.2],
    },
    average: { enum: ['sequence', 'token'], default: 'token' },
    shuffle: { type: 'boolean', default: true },
    verbose: { type: 'boolean' },
    path: { type: 'string' },
    extra: { type: 'object' },
    only: { type: 'array', items: { type: 'string' }, minItems: 2 },
    env: { type: 'array', items: { type: 'string' }, repeated: 'NAME=value', description: 'variable' },
  },
};

/** The values of a command line. */
function parse(...argv: string[]): Record<string, unknown> {
  const command = new Command().exitOverride().configureOutput({ writeErr: () => {} });
  for (const flag of schemaFlags(schema)) command.addOption(flag);
  return readFlags(schema, command.parse(argv, { from: 'user' }).opts());
}

function messageOf(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    if (ToolEnvError.isInstance(error)) return `${error.code}: ${error.message}`;
  }
  return 'nothing was thrown';
}

describe('flags from a schema', () => {
  it('has kebab-case names, placeholders and defaults', () => {
    const flags = schemaFlags(schema).map(({ flags: text, description }) => `${text} ${description}`.trim());
    expect(flags).toEqual([
      '--group-size <n> episodes of each task (default: 8)',
      '--learning-rate <x>',
      '--clip <x,x>  (default: 0.2,0.2)',
      '--average <sequence|token>  (default: token)',
      '--no-shuffle',
      '--verbose',
      '--path <text>',
      '--extra <json>',
      '--only <text,text>',
      '--env <NAME=value> variable; can be repeated',
    ]);
    expect(flagName('maxGradNorm')).toBe('--max-grad-norm');
  });

  it('say what the flag does, and name no empty default', () => {
    const properties = {
      stem: { type: 'boolean', default: true, description: 'whether to find words by their stem' },
      color: { type: 'boolean', default: true, description: 'paint the lines' },
      stopWords: { type: 'boolean', default: false, description: 'whether to index stop words too' },
      prefix: { type: 'string', default: '', description: 'text before each query' },
      names: { type: 'array', items: { type: 'string' }, default: [], description: 'names' },
    };
    const flags = schemaFlags({ type: 'object', properties });
    expect(flags.map(({ flags: text, description }) => `${text} ${description}`)).toEqual([
      '--no-stem do not find words by their stem',
      '--no-color paint the lines (this flag switches it off)',
      '--stop-words index stop words too',
      '--prefix <text> text before each query',
      '--names <text,text> names',
    ]);
  });

  it('lists many choices in the description', () => {
    const words = ['one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine'];
    const many = { properties: { number: { enum: words, default: 'two', description: 'of things' } } };
    const [flag] = schemaFlags(many);
    expect(flag).toMatchObject({
      flags: '--number <choice>',
      description: 'of things: one, two, three, four, five, six, seven, eight, nine (default: two)',
    });
  });

  it('reads values of each type', () => {
    expect(parse('--group-size', '4', '--learning-rate', '3e-4', '--clip', '0.2,0.28')).toMatchObject({
      groupSize: 4,
      learningRate: 3e-4,
      clip: [0.2, 0.28],
    });
    expect(parse('--average', 'sequence', '--no-shuffle', '--verbose')).toEqual({
      average: 'sequence',
      shuffle: false,
      verbose: true,
    });
    expect(parse('--path', '12', '--extra', '{"a":1}')).toMatchObject({ path: '12', extra: { a: 1 } });
  });

  it('keeps every value of a list whose flag is repeated', () => {
    expect(parse('--only', 'a', '--only', 'b,c')).toMatchObject({ only: ['a', 'b', 'c'] });
    // The last list of a fixed length counts, as of single values.
    expect(parse('--clip', '1,2', '--clip', '3,4')).toMatchObject({ clip: [3, 4] });
  });

  it('does not split values with commas where the flag takes one of them', () => {
    const json = 'CONFIG={"a": 1, "b": [2, 3]}';
    expect(parse('--env', json, '--env', 'LIST=1, 2', '--path', 'x')).toMatchObject({
      env: [json, 'LIST=1, 2'],
      path: 'x',
    });
    expect(parse('--env', '["A=1,2", "B=3"]', '--only', '["a,b", "c"]')).toMatchObject({
      env: ['A=1,2', 'B=3'],
      only: ['a,b', 'c'],
    });
  });

  it('reads options whose own names begin with "no"', () => {
    const quiet = { properties: { noEcho: { type: 'boolean' }, noise: { type: 'number' } } };
    const read = (...argv: string[]) => {
      const command = new Command();
      for (const flag of schemaFlags(quiet)) command.addOption(flag);
      return readFlags(quiet, command.parse(argv, { from: 'user' }).opts());
    };
    expect(read('--no-echo', '--noise', '0.5')).toEqual({ noEcho: true, noise: 0.5 });
    expect(read()).toEqual({ noEcho: false });
  });

  it('fills in defaults when asked to', () => {
    expect(completeFlags(schema, { groupSize: '3' })).toEqual({
      groupSize: 3,
      clip: [0.2, 0.2],
      average: 'token',
      shuffle: true,
    });
  });

  it.each([
    [['--group-size', '1'], '--group-size 1: give a whole number from 2 up.'],
    [['--group-size', '2.5'], '--group-size 2.5: give a whole number from 2 up.'],
    [['--group-size', 'many'], '--group-size many: give a whole number from 2 up.'],
    [['--group-size', ''], '--group-size : give a whole number from 2 up.'],
    [['--learning-rate', '0'], '--learning-rate 0: give a number above 0 to 1.'],
    [['--clip', '0.2'], '--clip 0.2: give 2 values with commas between, each a number from 0 up.'],
    [['--average', 'mean'], '--average mean: give sequence or token.'],
    [['--only', 'a'], '--only a: give values with commas between, each text.'],
    [['--env', '[1]'], '--env [1]: give NAME=value, and the flag again for another.'],
    [['--extra', '3'], '--extra 3: give JSON that fits its schema.'],
  ])('refuses %s', (argv, message) => {
    expect(messageOf(() => parse(...argv))).toBe(`usage.bad_flag: ${message}`);
  });
});

describe('key=value pairs', () => {
  const read = (...pairs: string[]) => readPairs(schema, pairs, '--env-option');

  it('reads values by the schema', () => {
    expect(read('groupSize=4', 'path=a=b', 'shuffle=false')).toEqual({
      groupSize: 4,
      path: 'a=b',
      shuffle: false,
    });
  });

  it('keep every value of a list', () => {
    expect(read('env=A=1,2', 'only=a,b', 'env=B=3', 'path=x', 'path=y')).toEqual({
      env: ['A=1,2', 'B=3'],
      only: ['a', 'b'],
      path: 'y',
    });
  });

  it.each([
    ['groupSize', 'usage.bad_flag: --env-option groupSize: write it as key=value.'],
    ['groupSize=1', 'usage.bad_flag: --env-option groupSize=1: give a whole number from 2 up.'],
  ])('refuses %s', (pair, message) => {
    expect(messageOf(() => read(pair))).toBe(message);
  });
});
