/** Mistakes in the definition of an environment, its limits and options, and the module that exports it. */
import { type Mistake, mistakesIn } from './mistake.ts';
import { capital, sum } from './right-environments.ts';

export const mistakes: readonly Mistake[] = [
  ...mistakesIn(sum, {
    'reward for rewards': [
      ['rewards:', 'reward:'],
      /env-v1\.ts:6:16 cannot be loaded: sum-v1: .*"reward"\. Did you mean "rewards"\?/,
    ],
    'no name': [["  name: 'sum-v1',\n", ''], /has no "name": add it/],
    'maxTurns outside of limits': [
      ['limits: { maxTurns: 4 }', 'maxTurns: 4'],
      /unknown part "maxTurns"\. It belongs into "limits"/,
    ],
    'maxTurn for maxTurns': [
      ['maxTurns: 4', 'maxTurn: 4'],
      /"limits" has an unknown part "maxTurn"\. Did you mean "maxTurns"\?/,
    ],
    'a limit as a text': [
      ['maxTurns: 4', "maxTurns: '4'"],
      /limits\/maxTurns must be integer\s+received "4"/,
    ],
    'too few turns to win': [
      ['maxTurns: 4', 'maxTurns: 1'],
      /ENV-32[\s\S]*the oracle to terminate[\s\S]*max_turns/,
    ],
    'a toolTimeout in seconds': [
      ['maxTurns: 4', 'maxTurns: 4, toolTimeout: 5'],
      [
        '({ a, b }) => String(a + b))',
        'async ({ a, b }) => { await new Promise((resolve) => setTimeout(resolve, 50)); return String(a + b); })',
      ],
      /did not answer within 0\.005 s: raise the environment's toolTimeout/,
    ],
    'no default export': [
      ['export default', 'export const env ='],
      /no plugin as its default export: use defineToolEnv/,
    ],
    'a function that defines it': [
      ['export default ', 'export default () => '],
      /it is a function: export what the function returns/,
    ],
    'an opened environment': [
      ['defineToolEnv }', 'defineToolEnv, openEnv }'],
      ['export default defineToolEnv(', 'export default await openEnv(defineToolEnv('],
      ['String(a + b)],\n});', 'String(a + b)],\n}));'],
      /it is an open environment: export its definition/,
    ],
    'a plain object': [
      ['export default defineToolEnv({', 'export default ({'],
      /it is a plain object: give it to one of defineToolEnv/,
    ],
    'a forgotten import': [
      ['defineTool, ', ''],
      /env-v1\.ts:4:13 cannot be loaded: ReferenceError: defineTool is not defined/,
    ],
    'an import of a package that is not installed': [
      ['export default', "import { z } from 'zodd';\nvoid z;\nexport default"],
      /Cannot find package 'zodd'.*Install it: npm install zodd/,
    ],
  }),
  ...mistakesIn(
    sum,
    {
      'a brace too few': [
        ['limits: { maxTurns: 4 }', 'limits: { maxTurns: 4 '],
        // By tsx, and by Node itself from Node 22.
        /env-v1\.ts cannot be loaded: ([\s\S]*env-v1\.ts:14:1: ERROR: Expected "}"|Expected ',', got '\)')/,
      ],
    },
    { isProcess: true },
  ),
  ...mistakesIn(capital, {
    'options that are values, not a schema': [
      [
        "{ properties: { shout: { type: 'boolean', default: false, description: 'whether to shout' } } }",
        '{ shout: false }',
      ],
      /"options" is no JSON Schema: write options: \{ properties: \{ shout/,
    ],
    'an option whose default breaks its schema': [
      ['default: false', "default: 'no'"],
      /default \/shout must be boolean\s+received "no"/,
    ],
  }),
];
