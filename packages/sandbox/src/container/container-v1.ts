/** The provider `container-v1`: containers of Docker or podman. */
import { existsSync } from 'node:fs';
import { messageOf } from '@toolenv/core';
import {
  defineSandboxProvider,
  type SandboxHost,
  type SandboxOrphan,
  type SandboxProvider,
  type SandboxReport,
} from '@toolenv/core/plugins';
import { processLimitProperties } from '../limits.ts';
import { sandboxFault, sandboxUsage } from '../sandbox-errors.ts';
import { Container, type ContainerOptions, removeContainer } from './container.ts';
import { ContainerSandbox } from './container-sandbox.ts';
import { DockerClient, DockerError } from './docker-client.ts';
import { isOrphan, label } from './owner.ts';

class ContainerHost implements SandboxHost {
  readonly #client: DockerClient;
  readonly #options: ContainerOptions;
  readonly #spare: Promise<Container>[] = [];
  readonly #open: Set<ContainerSandbox> = new Set();
  #closed = false;

  constructor(client: DockerClient, options: ContainerOptions) {
    this.#client = client;
    this.#options = options;
    this.#refill();
  }

  async sandbox({ signal }: { signal?: AbortSignal } = {}): Promise<ContainerSandbox> {
    signal?.throwIfAborted();
    if (this.#closed) throw sandboxFault('The sandboxes are closed: open them again.');
    const next = this.#spare.shift() ?? this.#start();
    this.#refill();
    let container: Container;
    try {
      container = await next;
    } catch (error) {
      throw sandboxFault(`A container did not start: ${messageOf(error)}`, error);
    }
    const made: ContainerSandbox = new ContainerSandbox(container, this.#options, {
      restart: () => this.#start(),
      closed: () => this.#open.delete(made),
    });
    this.#open.add(made);
    return made;
  }

  async close(): Promise<void> {
    this.#closed = true;
    const spare = this.#spare.splice(0).map(async (starting) => {
      const container = await starting.catch(() => undefined);
      await container?.remove();
    });
    await Promise.all([...spare, ...[...this.#open].map((one) => one.close())]);
  }

  #start(): Promise<Container> {
    const starting = Container.start(this.#client, this.#options);
    // Whoever takes it is told.
    starting.catch(() => {});
    return starting;
  }

  #refill(): void {
    while (!this.#closed && this.#spare.length < this.#options.spare) this.#spare.push(this.#start());
  }
}

/** Where Docker and podman listen, as the user or as root. */
function socketOf({ socket }: ContainerOptions): string {
  if (socket !== '') return socket;
  const given = /^unix:\/\/(.+)$/.exec(process.env.DOCKER_HOST ?? '')?.[1];
  const runtime = process.env.XDG_RUNTIME_DIR;
  const usual = [
    '/var/run/docker.sock',
    ...(runtime ? [`${runtime}/podman/podman.sock`] : []),
    '/run/podman/podman.sock',
  ];
  return given ?? usual.find((path) => existsSync(path)) ?? usual[0]!;
}

/** Why no container of the image can be made; `undefined` if there is the image. */
async function problemOf(
  client: DockerClient,
  { image, ...options }: ContainerOptions,
): Promise<string | undefined> {
  try {
    await client.ask('GET', `/images/${encodeURIComponent(image)}/json`);
    return undefined;
  } catch (error) {
    if (error instanceof DockerError && error.status === 404)
      return `There is no image "${image}": docker pull ${image}, or name another with the option image.`;
    const socket = socketOf({ image, ...options });
    return `Neither Docker nor podman answers at ${socket} (${messageOf(error)}): start it, or give its socket with the option socket.`;
  }
}

/** Containers that an ended process of this machine has left. */
async function orphans(client: DockerClient): Promise<SandboxOrphan[]> {
  const filters = encodeURIComponent(JSON.stringify({ label: [label] }));
  const found = await client.ask('GET', `/containers/json?all=true&filters=${filters}`).catch(() => []);
  const containers = (Array.isArray(found) ? found : []) as {
    Id: string;
    Image: string;
    Labels?: Record<string, string>;
  }[];
  return containers
    .filter(({ Labels }) => isOrphan(Labels ?? {}))
    .map(({ Id, Image }) => ({
      name: `${Id.slice(0, 12)} of ${Image}`,
      remove: () => removeContainer(client, Id),
    }));
}

const container: SandboxProvider<ContainerOptions> = defineSandboxProvider({
  name: 'container-v1',
  description:
    'Containers of Docker or podman: no network, a read-only root, folders in memory, limits of memory and processes.',
  options: {
    type: 'object',
    properties: {
      ...processLimitProperties,
      image: {
        type: 'string',
        minLength: 1,
        default: 'debian:stable-slim',
        description: 'image with sh and the usual programs; it is not pulled',
      },
      user: { type: 'string', default: '', description: "user of the commands; default: the image's" },
      socket: {
        type: 'string',
        default: '',
        description: "socket of the daemon; default: that of DOCKER_HOST, Docker's or podman's",
      },
      spare: { type: 'integer', minimum: 0, default: 1, description: 'containers that are kept ready' },
    },
    additionalProperties: false,
  },
  async open(options) {
    const client = new DockerClient(socketOf(options));
    const problem = await problemOf(client, options);
    if (problem !== undefined) throw sandboxUsage(problem);
    return new ContainerHost(client, options);
  },
  async inspect(options): Promise<SandboxReport> {
    const client = new DockerClient(socketOf(options));
    const problem = await problemOf(client, options);
    return {
      ...(problem !== undefined && { problem }),
      limits: { memory: 'cgroup', processes: 'cgroup', disk: 'tmpfs' },
      orphans: await orphans(client),
    };
  },
});

export default container;
