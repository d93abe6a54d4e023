/** The provider `container-v1`: containers of Docker or podman. */
import { messageOf } from '@toolenv/core';
import {
  defineSandboxProvider,
  type SandboxHost,
  type SandboxProvider,
  type SandboxReport,
} from '@toolenv/core/plugins';
import { type ProcessLimits, processLimitProperties, workFolder } from '../limits.ts';
import { sandboxFault } from '../sandbox-errors.ts';
import { connectDocker } from './connect-docker.ts';
import { Container } from './container.ts';
import { ContainerSandbox } from './container-sandbox.ts';
import type { DockerClient } from './docker-client.ts';
import { findImage } from './image.ts';
import { orphans } from './orphans.ts';

/** Options of the provider. */
interface ProviderOptions extends ProcessLimits {
  image: string;
  user: string;
  socket: string;
  spare: number;
}

class ContainerHost implements SandboxHost {
  readonly #client: DockerClient;
  readonly #options: ProviderOptions;
  readonly #spare: Promise<Container>[] = [];
  readonly #open: Set<ContainerSandbox> = new Set();
  #closed = false;

  constructor(client: DockerClient, options: ProviderOptions) {
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
      replace: async (ended) => {
        await ended.remove();
        return this.#start();
      },
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
    const { image, user, memory, disk, processes } = this.#options;
    const starting = Container.start(this.#client, {
      image,
      user,
      memory,
      processes,
      tmpfs: { '/tmp': disk, [workFolder]: disk },
      env: { HOME: workFolder, LANG: 'C.UTF-8' },
    });
    // Whoever takes it is told.
    starting.catch(() => {});
    return starting;
  }

  #refill(): void {
    while (!this.#closed && this.#spare.length < this.#options.spare) this.#spare.push(this.#start());
  }
}

const container: SandboxProvider<ProviderOptions> = defineSandboxProvider({
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
    const client = await connectDocker(options);
    await findImage(client, options.image);
    return new ContainerHost(client, options);
  },
  async inspect(options): Promise<SandboxReport> {
    const report = { limits: { memory: 'cgroup', processes: 'cgroup', disk: 'tmpfs' }, orphans: [] };
    let client: DockerClient;
    try {
      client = await connectDocker(options);
    } catch (error) {
      return { ...report, problem: messageOf(error) };
    }
    const found = await orphans(client).catch(() => []);
    try {
      await findImage(client, options.image);
      return { ...report, orphans: found };
    } catch (error) {
      return { ...report, orphans: found, problem: messageOf(error) };
    }
  },
});

export default container;
