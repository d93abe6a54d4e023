/** How a container is made, and the request that makes it. */
import { ownLabels } from '../process-owner.ts';

/** How a container is made. */
export interface ContainerOptions {
  /** Name or id of an image with `/bin/sh`. It is not pulled. */
  image: string;
  /** MiB of memory for all processes and the folders in memory together. */
  memory: number;
  /** Processes and threads at once. */
  processes: number;
  /** CPUs, such as 0.5. Default: all. */
  cpus?: number;
  /** Folders in memory, which are empty at first and lost when the container ends: absolute path → MiB. */
  tmpfs?: Readonly<Record<string, number>>;
  /**
   * MiB that may be written outside of `tmpfs`. Absent: the root is read-only. The daemon is asked for the size about every second, and a
   * container with more is killed: between two answers it may write as fast as the disk does. A file counts with its length, also a
   * sparse one. The number of files is not bounded.
   */
  disk?: number;
  /** Name or number of the user of commands that name none. Default: the image's. */
  user?: string;
  /** Variables of all commands, in addition to the image's. */
  env?: Readonly<Record<string, string>>;
  /**
   * Capabilities of root. `usual`: those of Docker's default with which root may change owners and users and pass permissions, as `chown`,
   * `su` and package managers need; without raw sockets and devices. Default: none. In both cases a process gains none by `exec`, so
   * `sudo` does not work.
   */
  rights?: 'none' | 'usual';
  /** `default` is the daemon's, from which other machines can be reached. Default: none but the loopback. */
  network?: 'none' | 'default';
  /** Labels in addition to those that name the process that made the container. */
  labels?: Readonly<Record<string, string>>;
}

/** The rights `usual`: podman's default, which is Docker's without AUDIT_WRITE, MKNOD and NET_RAW. */
const usualRights = [
  'CHOWN',
  'DAC_OVERRIDE',
  'FOWNER',
  'FSETID',
  'KILL',
  'NET_BIND_SERVICE',
  'SETFCAP',
  'SETGID',
  'SETPCAP',
  'SETUID',
  'SYS_CHROOT',
];

/** The body of a request that makes a container. */
export function requestOf(options: ContainerOptions): object {
  const { image, memory, processes, cpus, tmpfs = {}, disk, user = '', env = {} } = options;
  const { rights = 'none', network = 'none', labels = {} } = options;
  const bytes = memory * 2 ** 20;
  const inMemory = Object.entries(tmpfs).map(([path, size]) => [
    path,
    `rw,exec,nosuid,nodev,mode=1777,size=${size * 2 ** 20}`,
  ]);
  return {
    Image: image,
    // A process that reaps others, and that nothing in the container can kill.
    Entrypoint: ['/bin/sh', '-c', 'while :; do sleep 5 & wait; done'],
    Cmd: [],
    Env: variables(env),
    ...(user !== '' && { User: user }),
    WorkingDir: '/',
    Labels: { ...ownLabels(), ...labels },
    ...(network === 'none' && { NetworkDisabled: true }),
    Hostname: 'sandbox',
    HostConfig: {
      ...(network === 'none' && { NetworkMode: 'none' }),
      ReadonlyRootfs: disk === undefined,
      Tmpfs: Object.fromEntries(inMemory),
      Memory: bytes,
      MemorySwap: bytes,
      PidsLimit: processes,
      ...(cpus !== undefined && { NanoCpus: Math.round(cpus * 1e9) }),
      CapDrop: ['ALL'],
      ...(rights === 'usual' && { CapAdd: usualRights }),
      SecurityOpt: ['no-new-privileges'],
      Ulimits: [
        { Name: 'nofile', Soft: 1024, Hard: 1024 },
        { Name: 'core', Soft: 0, Hard: 0 },
        // Of the user in all containers together: no limit of a container. Without it podman asks for more than it may.
        { Name: 'nproc', Soft: 4096, Hard: 4096 },
      ],
      LogConfig: { Type: 'none' },
      RestartPolicy: { Name: 'no' },
    },
  };
}

/** Variables as the daemons write them. */
export function variables(env: Readonly<Record<string, string>>): string[] {
  return Object.entries(env).map(([name, value]) => `${name}=${value}`);
}
