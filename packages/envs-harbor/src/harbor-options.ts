/** The options by which Harbor tasks are played. */
import type { Split } from '@toolenv/core';
import type { OptionsOf } from '@toolenv/core/schemas';

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
        'container of the tests; shared: the container that the model controlled, which a model that learns deceives, for tasks without a verifier of their own',
    },
    unplayable: {
      enum: ['refuse', 'skip'],
      default: 'refuse',
      description:
        'what is done if tasks cannot be played; skip: leave them out, and list them by reason in a warning',
    },
    network: {
      enum: ['none', 'verifier', 'declared'],
      default: 'none',
      description:
        "who gets the daemon's network where a task asks for a network or a list of hosts, which is not enforced; verifier: its tests; declared: the model too. A warning counts the tasks that go without",
    },
    hostVariables: {
      type: 'array',
      items: { type: 'string', minLength: 1 },
      default: [],
      description: `variables of this process that tasks may read by \${NAME}`,
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
      description: "MiB of the agent's files that a verifier gets",
    },
    memory: {
      type: 'integer',
      minimum: 16,
      default: 2048,
      description: 'MiB of memory of a container, unless its task says otherwise',
    },
    disk: {
      type: 'integer',
      minimum: 1,
      default: 1024,
      description: 'MiB that a container may write before it is killed, unless its task says otherwise',
    },
    processes: {
      type: 'integer',
      minimum: 16,
      default: 512,
      description: 'processes and threads of a container at once',
    },
    buildNetwork: {
      type: 'boolean',
      default: true,
      description: 'whether the commands of a Dockerfile have a network, in which no agent works yet',
    },
    socket: {
      type: 'string',
      default: '',
      description: "socket of the daemon; default: that of DOCKER_HOST, Docker's or podman's",
    },
  },
  required: ['tasks'],
  additionalProperties: false,
} as const;

export type HarborOptions = OptionsOf<typeof harborOptions>;

/** Of the containers of all tasks. */
export type BoxOptions = Pick<HarborOptions, 'socket' | 'memory' | 'disk' | 'processes' | 'buildNetwork'>;
