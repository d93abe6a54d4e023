/** Images: what an image says of itself, how one is built, and how it is removed. */
import type { IncomingMessage } from 'node:http';
import { messageOf } from '@toolenv/core';
import { ownLabels } from '../process-owner.ts';
import { sandboxUsage } from '../sandbox-errors.ts';
import { type DockerClient, DockerError } from './docker-client.ts';
import { type FilesToPack, packedTar } from './tar.ts';

/** What an image sets for the commands of its containers. */
export interface Image {
  id: string;
  /** Absolute path of the folder in which commands begin. */
  workFolder: string;
  /** Name or number; empty for root. */
  user: string;
  env: Readonly<Record<string, string>>;
}

/** @throws ToolEnvError `usage.sandbox` if the daemon does not have the image: nothing is pulled. */
export async function findImage(client: DockerClient, name: string): Promise<Image> {
  try {
    const found = await client.ask('GET', `/images/${encodeURIComponent(name)}/json`);
    const { Id, Config } = found as {
      Id: string;
      Config?: { WorkingDir?: string; User?: string; Env?: string[] | null };
    };
    const variables = (Config?.Env ?? []).map((line) => /^([^=]*)=(.*)$/s.exec(line)?.slice(1) ?? [line, '']);
    return {
      id: Id,
      workFolder: Config?.WorkingDir || '/',
      user: Config?.User ?? '',
      env: Object.fromEntries(variables) as Record<string, string>,
    };
  } catch (error) {
    if (!(error instanceof DockerError) || error.status !== 404) throw error;
    const remedy = `docker pull ${name}, or name another`;
    throw sandboxUsage(`There is no image "${name}": ${remedy}.`, error);
  }
}

/** How an image is built. */
export interface BuildOptions {
  /** Name of the image. A named image is kept for later runs: it has no label of this process. */
  name?: string;
  /** Further labels. */
  labels?: Readonly<Record<string, string>>;
  /** Path of the Dockerfile in the context. Default: `Dockerfile`. */
  dockerfile?: string;
  buildArgs?: Readonly<Record<string, string>>;
  /** Milliseconds after which the build is given up. */
  timeout: number;
  /** Network of the `RUN` instructions. Default: none. podman with the isolation `chroot` gives them the host's all the same. */
  network?: 'none' | 'default';
  signal?: AbortSignal | undefined;
}

/** Characters of the log that an error quotes. */
const quotedLog = 4000;

/** Characters of a line of the log. */
const maxLineLength = 2 ** 20;

/**
 * Builds an image from files in memory. Without a name it is labelled as an image of this process, so that `toolenv doctor --sandboxes`
 * removes it when the process has ended without doing so. The instructions run as root of the daemon's build containers; neither memory nor disk is limited.
 * A build that is given up ends with Docker; podman ends it only after the instruction that is under way.
 * @returns The id of the image.
 * @throws ToolEnvError `usage.sandbox` with the end of the log, if the image does not build, or not in time.
 * @throws DockerError, an error of the socket, or the reason of the signal.
 */
export async function buildImage(
  client: DockerClient,
  context: FilesToPack,
  {
    name,
    labels,
    dockerfile = 'Dockerfile',
    buildArgs = {},
    timeout,
    network = 'none',
    signal,
  }: BuildOptions,
): Promise<string> {
  const query = new URLSearchParams({
    dockerfile,
    buildargs: JSON.stringify(buildArgs),
    labels: JSON.stringify({ ...(name === undefined && ownLabels()), ...labels }),
    ...(name !== undefined && { t: name }),
    forcerm: 'true',
    ...(network === 'none' && { networkmode: 'none' }),
  });
  const late = AbortSignal.timeout(timeout);
  const log = { text: '' };
  const build = async () => {
    const answer = await client.stream('POST', `/build?${query}`, {
      body: packedTar(context),
      silence: 0,
      signal: signal ? AbortSignal.any([signal, late]) : late,
    });
    return builtImage(answer, log);
  };
  try {
    return await build().catch((error) => {
      if (!isRace(error)) throw error;
      log.text = '';
      return build();
    });
  } catch (error) {
    signal?.throwIfAborted();
    if (!(late.aborted || error instanceof FailedBuild)) throw error;
    const why = late.aborted ? `it took more than ${timeout} ms: allow it more time` : messageOf(error);
    throw sandboxUsage(`An image did not build: ${why}.\n${log.text}`.trimEnd(), error);
  }
}

/** Removes an image. It may be gone already. */
export async function removeImage(client: DockerClient, id: string): Promise<void> {
  try {
    await client.ask('DELETE', `/images/${encodeURIComponent(id)}?force=true`);
  } catch (error) {
    if (!(error instanceof DockerError) || error.status !== 404) throw error;
  }
}

class FailedBuild extends Error {}

/** Whether podman met the storage of another build half-way (containers/buildah issue 5674). The same build works the next time. */
function isRace(error: unknown): boolean {
  return (
    error instanceof FailedBuild &&
    /identifier is not a container|(layer|container) not known/.test(error.message)
  );
}

/** Reads the log of a build, a line of JSON for each message, and keeps its end in `log`. */
async function builtImage(answer: IncomingMessage, log: { text: string }): Promise<string> {
  let id: string | undefined;
  let rest = '';
  answer.setEncoding('utf8');
  for await (const part of answer as AsyncIterable<string>) {
    const lines = (rest + part).split('\n');
    rest = lines.pop()!;
    if (rest.length > maxLineLength) throw new Error('a line of the log of the build is too long');
    for (const line of lines.filter((text) => text.trim() !== '')) {
      const {
        stream = '',
        error,
        aux,
      } = JSON.parse(line) as {
        stream?: string;
        error?: string;
        aux?: { ID?: string };
      };
      if (error !== undefined) throw new FailedBuild(error.trim().replace(/\.$/, ''));
      id = aux?.ID ?? id;
      log.text = (log.text + stream).slice(-quotedLog);
    }
  }
  if (id === undefined) throw new FailedBuild('the daemon named no image');
  return id;
}
