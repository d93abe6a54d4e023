/** @toolenv/sandbox/container: containers and images of Docker and podman, for packages that need more than `container-v1`. */

export { quoted } from '../carried-shell.ts';
export type { Change, ChangedFile } from './changes.ts';
export {
  Container,
  type ExecOptions,
  type ExecResult,
} from './container.ts';
export type { ContainerOptions } from './container-options.ts';
export {
  ContainerSandbox,
  type ContainerSandboxOptions,
} from './container-sandbox.ts';
export { connectDocker, DockerClient, DockerError } from './docker-client.ts';
export { type BuildOptions, buildImage, findImage, type Image, removeImage } from './image.ts';
export type { ArchivedFile, ArchiveLimits, FileToPack } from './tar.ts';
