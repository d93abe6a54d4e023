/** connectDocker: finds the daemon of Docker or podman. */
import { existsSync } from 'node:fs';
import { messageOf } from '@toolenv/core';
import { sandboxUsage } from '../sandbox-errors.ts';
import { DockerClient } from './docker-client.ts';

/**
 * Connects to the daemon of Docker or podman.
 * @param options `socket`: path of its Unix socket. Default: that of `DOCKER_HOST`, Docker's, or podman's, of the user or of root.
 * @throws ToolEnvError `usage.sandbox` if none answers, with the remedy.
 */
export async function connectDocker({ socket = '' }: { socket?: string } = {}): Promise<DockerClient> {
  const path = socket === '' ? usualSocket() : socket;
  try {
    return await DockerClient.connect(path);
  } catch (error) {
    throw sandboxUsage(
      `Neither Docker nor podman answers at ${path} (${messageOf(error)}): start Docker or "podman system service --time 0", or give the socket with the option socket.`,
      error,
    );
  }
}

function usualSocket(): string {
  const given = /^unix:\/\/(.+)$/.exec(process.env.DOCKER_HOST ?? '')?.[1];
  const runtime = process.env.XDG_RUNTIME_DIR;
  const usual = [
    '/var/run/docker.sock',
    ...(runtime ? [`${runtime}/podman/podman.sock`] : []),
    '/run/podman/podman.sock',
  ];
  return given ?? usual.find((path) => existsSync(path)) ?? usual[0]!;
}
