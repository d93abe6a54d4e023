/** The options by which Harbor tasks are played. */
import type { Split } from '@toolenv/core';
import type { OptionsOf } from '@toolenv/core/schemas';
import { boxProperties } from './box/box-options.ts';

export const harborOptions = {
  type: 'object',
  properties: {
    tasks: {
      type: 'string',
      minLength: 1,
      description: 'a task folder, or a folder of them, also in folders named train, validation and test',
    },
    taskSplit: {
      enum: ['train', 'validation', 'test'] satisfies Split[],
      default: 'test',
      description: 'split of the tasks that are in no folder of a split',
    },
    verifier: {
      enum: ['fresh', 'shared'],
      default: 'fresh',
      description:
        'container of the tests; shared: the container that the agent controlled, which a hostile agent deceives',
    },
    network: {
      enum: ['none', 'declared'],
      default: 'none',
      description: 'network of containers; declared: that of the daemon, where a task asks for one',
    },
    hostVariables: {
      type: 'array',
      items: { type: 'string', minLength: 1 },
      default: [],
      description: 'variables of this process that tasks may read',
    },
    timeFactor: {
      type: 'number',
      exclusiveMinimum: 0,
      default: 1,
      description: 'factor for the times that tasks give their agents and verifiers',
    },
    artifacts: {
      type: 'integer',
      minimum: 1,
      default: 64,
      description: 'MiB of artifacts that a verifier gets',
    },
    ...boxProperties,
  },
  required: ['tasks'],
  additionalProperties: false,
} as const;

export type HarborOptions = OptionsOf<typeof harborOptions>;
