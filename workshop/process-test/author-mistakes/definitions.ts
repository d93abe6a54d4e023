/** Mistakes in the definition of an environment, its limits and options, and the module that exports it. */
import type { Mistake } from './mistake.ts';
import { capital, sum } from './right-environments.ts';

export const mistakes: readonly Mistake[] = [
  {
    did: 'reward for rewards',
    in: sum,
    edits: [['rewards:', 'reward:']],
    says: /env-v1\.ts:6:16 cannot be loaded: sum-v1: .*"reward"\. Did you mean "rewards"\?/,
  },
  { did: 'no name', in: sum, edits: [["  name: 'sum-v1',\n", '']], says: /has no "name": add it/ },
  {
    did: 'maxTurns outside of limits',
    in: sum,
    edits: [['limits: { maxTurns: 4 }', 'maxTurns: 4']],
    says: /unknown part "maxTurns"\. It belongs into "limits"/,
  },
  {
    did: 'maxTurn for maxTurns',
    in: sum,
    edits: [['maxTurns: 4', 'maxTurn: 4']],
    says: /"limits" has an unknown part "maxTurn"\. Did you mean "maxTurns"\?/,
  },
  {
    did: 'a limit as a text',
    in: sum,
    edits: [['maxTurns: 4', "maxTurns: '4'"]],
    says: /limits\/maxTurns must be integer\s+received "4"/,
  },
  {
    did: 'too few turns to win',
    in: sum,
    edits: [['maxTurns: 4', 'maxTurns: 1']],
    says: /ENV-32[\s\S]*the oracle to terminate[\s\S]*max_turns/,
  },
  {
    did: 'a toolTimeout in seconds',
    in: sum,
    edits: [
      ['maxTurns: 4', 'maxTurns: 4, toolTimeout: 5'],
      [
        '({ a, b }) => String(a + b))',
        'async ({ a, b }) => { await new Promise((resolve) => setTimeout(resolve, 50)); return String(a + b); })',
      ],
    ],
    says: /did not answer within 0\.005 s: raise the environment's toolTimeout/,
  },
  {
    did: 'no default export',
    in: sum,
    edits: [['export default', 'export const env =']],
    says: /no plugin as its default export: use defineToolEnv/,
  },
  {
    did: 'a function that defines it',
    in: sum,
    edits: [['export default ', 'export default () => ']],
    says: /it is a function: export what the function returns/,
  },
  {
    did: 'an opened environment',
    in: sum,
    edits: [
      ['defineToolEnv }', 'defineToolEnv, openEnv }'],
      ['export default defineToolEnv(', 'export default await openEnv(defineToolEnv('],
      ['String(a + b)],\n});', 'String(a + b)],\n}));'],
    ],
    says: /it is an open environment: export its definition/,
  },
  {
    did: 'a plain object',
    in: sum,
    edits: [['export default defineToolEnv({', 'export default ({']],
    says: /it is a plain object: give it to one of defineToolEnv/,
  },
  {
    did: 'a forgotten import',
    in: sum,
    edits: [['defineTool, ', '']],
    says: /env-v1\.ts:4:13 cannot be loaded: ReferenceError: defineTool is not defined/,
  },
  {
    did: 'a brace too few',
    in: sum,
    edits: [['limits: { maxTurns: 4 }', 'limits: { maxTurns: 4 ']],
    isProcess: true,
    // By tsx, and by Node itself from Node 22.
    says: /env-v1\.ts cannot be loaded: ([\s\S]*env-v1\.ts:14:1: ERROR: Expected "}"|Expected ',', got '\)')/,
  },
  {
    did: 'an import of a package that is not installed',
    in: sum,
    edits: [['export default', "import { z } from 'zodd';\nvoid z;\nexport default"]],
    says: /Cannot find package 'zodd'.*Install it: npm install zodd/,
  },
  {
    did: 'options that are values, not a schema',
    in: capital,
    edits: [
      [
        "{ properties: { shout: { type: 'boolean', default: false, description: 'whether to shout' } } }",
        '{ shout: false }',
      ],
    ],
    says: /"options" is no JSON Schema: write options: \{ properties: \{ shout/,
  },
  {
    did: 'an option whose default breaks its schema',
    in: capital,
    edits: [['default: false', "default: 'no'"]],
    says: /default \/shout must be boolean\s+received "no"/,
  },
];
