/** Boxes: makes the containers of tasks, and builds each image once. */
import { messageOf, ToolEnvError } from '@toolenv/core';
import {
  buildImage,
  Container,
  connectDocker,
  type DockerClient,
  findImage,
  type Image,
} from '@toolenv/sandbox/container';
import type { BoxOptions } from '../harbor-options.ts';
import type { BoxSpec, VerifierSpec } from '../task/harbor-task.ts';
import { type Executed, executedIn } from '../verify/executed.ts';
import { folderDigest, folderFiles } from './folder-files.ts';

/** A running container of a task. */
export interface Box {
  readonly container: Container;
  /** Working folder. */
  readonly folder: string;
  /** Name or number of the user of commands that name none; empty for root. */
  readonly user: string;
}

/** Label of the images that are built here. They are kept for later runs. */
const imageLabel = 'dev.toolenv.harbor';

export class Boxes {
  readonly #options: BoxOptions;
  readonly #images: Map<string, Promise<Image>> = new Map();
  readonly #executed: Map<string, Promise<Executed>> = new Map();
  /** Containers that are being removed. */
  readonly #leaving: Set<Promise<void>> = new Set();
  #client: Promise<DockerClient> | undefined;

  constructor(options: BoxOptions) {
    this.#options = options;
  }

  /** Connects to the daemon, if this has not been done. @throws ToolEnvError `usage.sandbox` if none answers. */
  connect(): Promise<DockerClient> {
    this.#client ??= connectDocker(this.#options);
    this.#client.catch(() => {
      this.#client = undefined;
    });
    return this.#client;
  }

  /**
   * The image of a container, built if it is a Dockerfile whose folder has not been built before, in this run or an earlier one.
   * @throws ToolEnvError `usage.sandbox` if there is no such image, or if it does not build.
   */
  image({ image: source }: Pick<BoxSpec, 'image'>): Promise<Image> {
    return once(this.#images, source, () =>
      'name' in source ? this.#found(source.name) : this.#built(source),
    );
  }

  /** Starts a container. @throws ToolEnvError As {@link image} does; `infrastructure.sandbox` if it does not start. */
  async start(spec: BoxSpec): Promise<Box> {
    // Otherwise a slow daemon would have ever more of them.
    await this.settled();
    const { env, network, workdir, cpus, memory, storage } = spec;
    const image = await this.image(spec);
    const client = await this.connect();
    const { processes, ...options } = this.#options;
    const container = await asFault('A container did not start', () =>
      Container.start(client, {
        image: image.id,
        env,
        memory: memory ?? options.memory,
        disk: storage ?? options.disk,
        processes,
        rights: 'usual',
        network: network ? 'default' : 'none',
        ...(cpus !== undefined && { cpus }),
      }),
    );
    return { container, folder: workdir ?? image.workFolder, user: image.user };
  }

  /** What a verifier would execute in its container, in which nothing of the agent is yet. Asked once for each image. */
  executed(box: Box, verifier: VerifierSpec): Promise<Executed> {
    const { user, env, box: spec } = verifier;
    const asked = [spec.image, spec.env, box.folder, user, env];
    return once(this.#executed, asked, () => executedIn(box, verifier));
  }

  /** Removes a container, while the caller goes on: a busy daemon takes its time. One that cannot be removed is named in a warning. */
  remove(starting: Promise<Box>): void {
    const leaving = starting
      .then(
        ({ container }) => container.remove(),
        () => {},
      )
      .catch((error: unknown) => {
        const remedy = 'toolenv doctor --sandboxes removes it when this process has ended';
        process.emitWarning(`A container could not be removed (${messageOf(error)}): ${remedy}.`);
      })
      .finally(() => this.#leaving.delete(leaving));
    this.#leaving.add(leaving);
  }

  /** Waits until all containers that {@link remove} has been given are gone. */
  async settled(): Promise<void> {
    await Promise.all(this.#leaving);
  }

  /** A process of the container, as this machine counts, by which its network can be entered. */
  async pid({ container }: Box): Promise<number> {
    const found = await (await this.connect()).ask('GET', `/containers/${container.id}/json`);
    return (Object(found) as { State?: { Pid?: number } }).State?.Pid ?? 0;
  }

  /** Stops the processes of a container for a while, so that its files stand still. */
  async pause({ container }: Box): Promise<void> {
    if (await container.isRunning())
      await (await this.connect()).ask('POST', `/containers/${container.id}/pause`);
  }

  async resume({ container }: Box): Promise<void> {
    await (await this.connect()).ask('POST', `/containers/${container.id}/unpause`);
  }

  async #found(name: string): Promise<Image> {
    return findImage(await this.connect(), name);
  }

  async #built({ context, timeout }: { context: string; timeout: number }): Promise<Image> {
    const name = `localhost/toolenv-harbor:${(await folderDigest(context)).slice(0, 32)}`;
    const known = await this.#found(name).catch((error: unknown) => {
      if (ToolEnvError.isInstance(error) && error.code === 'usage.sandbox') return undefined;
      throw error;
    });
    if (known) return known;
    await buildImage(await this.connect(), folderFiles(context), {
      name,
      labels: { [imageLabel]: 'v1' },
      timeout,
      network: this.#options.buildNetwork ? 'default' : 'none',
    });
    return this.#found(name);
  }
}

/** The result of the first `make` of a key, unless it failed. */
function once<Result>(
  made: Map<string, Promise<Result>>,
  of: unknown,
  make: () => Promise<Result>,
): Promise<Result> {
  const key = JSON.stringify(of);
  const found = made.get(key);
  if (found) return found;
  const result = make();
  result.catch(() => made.delete(key));
  made.set(key, result);
  return result;
}

/** What `work` returns. @throws ToolEnvError `infrastructure.sandbox` in the place of what the daemon's client throws. */
export async function asFault<Result>(what: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (ToolEnvError.isInstance(error)) throw error;
    throw new ToolEnvError('infrastructure.sandbox', `${what}: ${messageOf(error)}`, { cause: error });
  }
}
