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
import { SparePool } from '../spare-pool.ts';
import { Container } from './container.ts';
import { ContainerSandbox } from './container-sandbox.ts';
import { connectDocker, type DockerClient } from './docker-client.ts';
import { findImage } from './image.ts';
import { orphans } from './orphans.ts';

/** Options of the provider. */
interface ProviderOptions extends ProcessLimits {
  image: string;
  user: string;
  socket: string;
  spare: number;
}

function containers(client: DockerClient, options: ProviderOptions): SandboxHost {
  const { image, user, memory, disk, processes, spare } = options;
  const tmpfs = { '/tmp': disk, [workFolder]: disk };
  const env = { HOME: workFolder, LANG: 'C.UTF-8' };
  const pool: SparePool<Container> = new SparePool({
    spare,
    async begin() {
      try {
        return await Container.start(client, { image, user, memory, processes, tmpfs, env });
      } catch (error) {
        throw sandboxFault(`A container did not start: ${messageOf(error)}`, error);
      }
    },
    remove: (container) => container.remove(),
    sandbox(container, closed) {
      const replace = async (ended: Container) => {
        await ended.remove();
        return pool.take();
      };
      return new ContainerSandbox(container, options, { replace, closed });
    },
  });
  return pool;
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
    return containers(client, options);
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
