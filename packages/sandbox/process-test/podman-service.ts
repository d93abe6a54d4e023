/** A podman service with an image of busybox, for tests. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { copyFileSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { connectDocker } from '../src/container/docker-client.ts';

const busybox = '/bin/busybox';
export const image = 'localhost/toolenv-test-busybox';

const needed: Readonly<Record<string, string>> = {
  podman: '/usr/bin/podman',
  runc: '/usr/sbin/runc',
  'busybox-static': busybox,
};

/** Why no container can be made here. */
export const missing: string | undefined = (() => {
  const absent = Object.keys(needed).filter((name) => !existsSync(needed[name]!));
  if (process.getuid?.() !== 0) return 'podman is tested as root';
  return absent.length > 0 ? `not installed: ${absent.join(', ')}` : undefined;
})();

export class PodmanService {
  readonly socket: string;
  readonly #folder: string;
  #process: ChildProcess | undefined;

  constructor() {
    this.#folder = mkdtempSync(join(tmpdir(), 'podman-'));
    this.socket = join(this.#folder, 'podman.sock');
  }

  /** Builds the image, and starts the service. */
  async start(): Promise<void> {
    copyFileSync(busybox, join(this.#folder, 'busybox'));
    const lines = [
      'FROM scratch',
      'COPY busybox /bin/busybox',
      'RUN ["/bin/busybox", "--install", "-s", "/bin"]',
      'RUN ["/bin/mkdir", "-p", "/tmp", "/work", "/root"]',
    ];
    writeFileSync(join(this.#folder, 'Dockerfile'), lines.join('\n'));
    execFileSync('podman', ['build', '--isolation=chroot', '-t', image, this.#folder], { stdio: 'pipe' });
    await this.serve();
  }

  async serve(): Promise<void> {
    const args = ['--runtime', 'runc', '--cgroup-manager=cgroupfs', 'system', 'service', '--time=0'];
    // Out of memory, runc leaves an empty file in its folder.
    const options = { cwd: this.#folder, stdio: 'ignore', detached: true } as const;
    this.#process = spawn('podman', [...args, `unix://${this.socket}`], options);
    // The socket's file is there a moment before the service listens.
    const answers = () =>
      connectDocker({ socket: this.socket }).then(
        () => true,
        () => false,
      );
    for (let tries = 0; !(await answers()); tries++) {
      if (tries === 400) throw new Error('podman does not answer');
      await sleep(50);
    }
  }

  kill(): void {
    this.#process?.kill('SIGKILL');
    rmSync(this.socket, { force: true });
  }

  stop(): void {
    this.kill();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
