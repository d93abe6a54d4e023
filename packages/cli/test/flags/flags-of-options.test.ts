/** The flags of options: a command line that has them gives the same options again. */
import { completeOptions } from '@toolenv/core/plugins';
import transformer from '@toolenv/policy/transformer-v1';
import { grpo } from '@toolenv/trainer-grpo';
import { Command } from 'commander';
import { describe, expect, test } from 'vitest';
import { flagsOf, pairsOf, readFlags, readPairs, schemaFlags } from '../../src/flags/schema-flags.ts';

const schemas = {
  grpo: grpo.options,
  transformer: transformer.options,
  odd: {
    type: 'object',
    properties: {
      isOn: { type: 'boolean', default: true },
      isOff: { type: 'boolean', default: false },
      names: { type: 'array', items: { type: 'string' } },
      items: { type: 'array', items: { type: 'string' }, repeated: 'text' },
      pair: { type: 'array', items: { type: 'number' }, minItems: 2, maxItems: 2, default: [0, 1] },
      time: { type: 'number', milliseconds: true, default: 1000 },
      text: { type: 'string', default: '' },
      map: { type: 'object' },
    },
  },
};

describe.each<[keyof typeof schemas, Record<string, unknown>]>([
  ['grpo', {}],
  ['grpo', { steps: 7, groupSize: 4, deadline: 90_000, evaluateEvery: 2, learningRate: 3e-5 }],
  [
    'transformer',
    { checkpoint: 'a b', loraRank: 16, loraTargets: ['q_proj', 'v_proj'], gradientCheckpointing: true },
  ],
  ['transformer', { checkpoint: 'x', templateArguments: { enable_thinking: false, name: "it's" } }],
  [
    'odd',
    {
      isOn: false,
      isOff: true,
      names: ['a', 'b,c'],
      items: ['x,y'],
      pair: [0.2, 3],
      time: 2500,
      text: '-v',
      map: { a: [1] },
    },
  ],
])('%s with %j', (name, given) => {
  const schema = schemas[name];
  const options = completeOptions(schema, given, name);

  test('as flags', () => {
    const command = new Command().exitOverride();
    for (const flag of schemaFlags(schema)) command.addOption(flag);
    const words = flagsOf(schema, options).flatMap(([flag, value]) =>
      value === undefined ? [flag!] : [`${flag}=${value}`],
    );
    command.parse(words, { from: 'user' });
    expect(completeOptions(schema, readFlags(schema, command.opts()), name)).toEqual(options);
  });

  test('as pairs', () => {
    const read = readPairs(schema, pairsOf(schema, options), '--env-option');
    expect(completeOptions(schema, read, name)).toEqual(options);
  });
});

test('defaults are left out', () => {
  expect(flagsOf(grpo.options, completeOptions(grpo.options, { steps: 3 }, 'grpo'))).toEqual([
    ['--steps', '3'],
  ]);
});
