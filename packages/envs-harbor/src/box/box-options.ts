/** Options of the containers of all tasks. */
import type { JsonSchema } from '@toolenv/core';

export interface BoxOptions {
  /** Socket of the daemon; empty for the usual ones. */
  socket: string;
  /** MiB of memory, and of written files, of a container whose task asks for nothing. */
  memory: number;
  disk: number;
  /** Processes and threads of a container at once. */
  processes: number;
  /** Whether the commands of a Dockerfile have a network. */
  buildNetwork: boolean;
}

export const boxProperties = {
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
} as const satisfies Record<string, JsonSchema>;
