/** What packages build on containers, run by podman where it is installed. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import {
  buildImage,
  Container,
  type ContainerOptions,
  ContainerSandbox,
  connectDocker,
  type DockerClient,
  findImage,
  removeImage,
} from '../src/container/index.ts';
import { orphans } from '../src/container/orphans.ts';
import { packedTar } from '../src/container/tar.ts';
import { ownLabels } from '../src/process-owner.ts';
import { image, missing, PodmanService } from './podman-service.ts';

const roomy = { bytes: 2 ** 20, entries: 100 };
const short = { timeout: 20_000, output: 10_000 };

describe.skipIf(missing)(`the API of containers${missing ? ` (skipped: ${missing})` : ''}`, () => {
  const service = new PodmanService();
  const started: Container[] = [];
  let client: DockerClient;
  beforeAll(async () => {
    await service.start();
    client = await connectDocker({ socket: service.socket });
  });
  afterEach(async () => {
    await Promise.all(started.splice(0).map((container) => container.remove()));
  });
  afterAll(() => service.stop());

  async function start(options: Partial<ContainerOptions> = {}): Promise<Container> {
    const container = await Container.start(client, { image, memory: 64, processes: 64, ...options });
    started.push(container);
    return container;
  }
  async function outputOf(container: Container, script: string, options = {}): Promise<string> {
    const { stdout, stderr } = await container.exec(script, { ...short, ...options });
    return new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr);
  }

  test('with a writable root and the usual rights, root gives files away and becomes another user', async () => {
    const container = await start({ disk: 64, rights: 'usual', env: { A: 'container', B: 'container' } });
    await container.putArchive([
      { path: '/etc/passwd', bytes: 'root:x:0:0::/root:/bin/sh\nann:x:1000:1000::/:/bin/sh\n' },
    ]);
    const asRoot = 'touch /file && chown ann /file && stat -c %u /file; su ann -c "id -u; touch /x"';
    expect(await outputOf(container, asRoot)).toBe('1000\n1000\ntouch: /x: Permission denied\n');
    const options = { user: 'ann', folder: '/etc', env: { B: 'exec' } };
    expect(await outputOf(container, 'id -u; pwd; echo $A $B', options)).toBe('1000\n/etc\ncontainer exec\n');
    expect(await container.exec('true', { ...short, folder: '/none' })).toMatchObject({ exitCode: 126 });
    const rights = await outputOf(container, 'grep -E "CapBnd|NoNewPrivs" /proc/self/status');
    expect(rights).toBe('CapBnd:\t00000000800405fb\nNoNewPrivs:\t1\n');
  });

  test('a command of a user that runs too long is killed with all that others run', async () => {
    const container = await start({ disk: 64, rights: 'usual' });
    await container.exec('sleep 1000 &', short);
    const late = await container.exec('sleep 1001', { ...short, timeout: 300, user: '1000' });
    expect(late).toMatchObject({ exitCode: 124, timedOut: true, gone: false });
    expect(
      await outputOf(container, 'cat /proc/[0-9]*/cmdline | tr "\\0" " " | grep -c "sleep 100[0-9]"'),
    ).toBe('0\n');
  });

  test('a container whose shell or programs are destroyed has results, and is killed and read', async () => {
    const container = await start({ disk: 64, rights: 'usual' });
    await container.exec('echo kept > /kept; rm -rf /bin', short);
    expect(await container.exec('true', short)).toMatchObject({ exitCode: 127, gone: false });
    await container.kill();
    expect((await container.archive('/kept', roomy)).files).toHaveLength(1);
  });

  test('CPUs are limited, and there is no network', async () => {
    const container = await start({ cpus: 0.5 });
    const quota = 'cat /sys/fs/cgroup/cpu.max 2>/dev/null || cat /sys/fs/cgroup/cpu/cpu.cfs_quota_us';
    expect(await outputOf(container, quota)).toMatch(/^50000\b/);
    expect(await outputOf(container, 'ls /sys/class/net')).toBe('lo\n');
  });

  test('a container that writes more than its disk is killed, and says so', async () => {
    const container = await start({ disk: 16, rights: 'usual' });
    expect(await container.exec('head -c 8000000 /dev/zero > /ok; sleep 2', short)).toMatchObject({
      gone: false,
    });
    const full = await container.exec(
      'while :; do head -c 4000000 /dev/zero >> /big; sleep 0.2; done',
      short,
    );
    expect(full).toMatchObject({ exitCode: 137, gone: true, timedOut: false });
    expect(container.overfull).toBe(true);
    expect(await container.exec('true', short)).toMatchObject({ exitCode: 137, gone: true });
    const found = (await client.ask('GET', `/containers/${container.id}/json?size=true`)) as {
      SizeRw: number;
    };
    expect(found.SizeRw).toBeLessThan(100e6);
  });

  test('a killed container runs nothing, and its files are read: no link, no FIFO, no file of this machine', async () => {
    const container = await start({ disk: 64, rights: 'usual' });
    await container.exec(
      `mkdir -p /out/deep /etc; cd /out; echo secret > /etc/hostname; echo text > 'deep/a b'; chmod 750 'deep/a b'
ln -s /etc/hostname link; ln -s ../../../../../../etc/hostname /climb; ln -s /out /alias; ln deep/a* hard; mkfifo fifo; echo odd > '..odd'
(while :; do date >> /out/looping; sleep 0; done) &`,
      short,
    );
    await container.kill();
    expect(await container.isRunning()).toBe(false);
    await container.kill();
    const { files, skipped } = await container.archive('/out/', roomy);
    const texts = files.map(({ path, mode, bytes }) => [
      path,
      mode.toString(8),
      bytes && Buffer.from(bytes).toString(),
    ]);
    expect(texts.filter(([path]) => path !== '/out/looping').sort()).toEqual([
      ['/out', '755', undefined],
      ['/out/..odd', '644', 'odd\n'],
      ['/out/deep', '755', undefined],
      ['/out/deep/a b', '750', 'text\n'],
    ]);
    expect(skipped.sort((a, b) => (a.path < b.path ? -1 : 1))).toEqual([
      { path: '/out/fifo', type: 'fifo' },
      { path: '/out/hard', type: 'link' },
      { path: '/out/link', type: 'symlink' },
    ]);
    expect((await container.archive('/out', roomy)).files).toEqual(files);
    const climbed = await container.archive('/climb', roomy);
    expect(JSON.stringify(climbed.files.map(({ bytes }) => Buffer.from(bytes!).toString()))).not.toContain(
      readFileSync('/etc/hostname', 'utf8').trim(),
    );
    expect((await container.archive('/alias/deep', roomy)).files.map(({ path }) => path)).toContain(
      '/alias/deep/a b',
    );
    await expect(container.archive('/none', roomy)).rejects.toMatchObject({ code: 'usage.sandbox_file' });
    expect(
      (await container.archive('/', { bytes: 2 ** 23, entries: 1000 })).files.map(({ path }) => path),
    ).toContain('/out/..odd');
  });

  test('a gigabyte without content is left after the limit', async () => {
    const container = await start({ disk: 4096, rights: 'usual' });
    await container.exec('mkdir /out; dd if=/dev/zero of=/out/sparse bs=1 count=1 seek=1073741823', short);
    await container.kill();
    const before = process.memoryUsage().rss;
    const began = performance.now();
    await expect(container.archive('/out', roomy)).rejects.toThrow('/out: it holds more than 1048576 bytes');
    expect(performance.now() - began).toBeLessThan(3000);
    expect(process.memoryUsage().rss - before).toBeLessThan(100e6);
    await expect(container.archive('/bin', { bytes: 2 ** 23, entries: 3 })).rejects.toThrow(
      'more than 3 entries',
    );
  });

  test('files are put where they belong, with their owner, also into a container that has ended', async () => {
    const container = await start({ disk: 64, rights: 'usual' });
    const files = [
      { path: '/tests', mode: 0o700 },
      { path: '/tests/test.sh', bytes: 'echo tested\n', mode: 0o755 },
      { path: `/tests/${'deep/'.repeat(60)}x`, bytes: new Uint8Array(100_000) },
    ];
    await container.putArchive(files, { uid: 1000, gid: 1001 });
    const look = 'stat -c "%u %g %a" /tests /tests/test.sh; find /tests -name x -size 100000c | wc -l';
    expect(await outputOf(container, look)).toBe('1000 1001 700\n1000 1001 755\n1\n');
    await container.kill();
    await container.putArchive([{ path: '/late', bytes: 'late' }]);
    expect((await container.archive('/late', roomy)).files).toMatchObject([{ path: '/late', mode: 0o644 }]);
  });

  test('an image is built from files in memory, and found until it is removed', async () => {
    const busybox = readFileSync('/bin/busybox');
    const context = [
      {
        path: 'sub/Dockerfile',
        bytes:
          'FROM scratch\nARG WORD\nCOPY busybox /bin/busybox\nCOPY busybox /bin/sh\nENV WORD=$WORD\nUSER 1000\nWORKDIR /app\n',
      },
      { path: 'busybox', bytes: busybox, mode: 0o755 },
    ];
    const id = await buildImage(client, context, {
      dockerfile: 'sub/Dockerfile',
      buildArgs: { WORD: 'given' },
      timeout: 60_000,
    });
    expect(await findImage(client, id)).toMatchObject({
      id,
      workFolder: '/app',
      user: '1000',
      env: { WORD: 'given' },
    });
    const container = await start({ image: id });
    expect(await outputOf(container, 'busybox id -u; echo $WORD')).toBe('1000\ngiven\n');
    await container.remove();
    const names = async () => (await orphans(client)).map(({ name }) => name);
    expect(await names()).not.toContain(`image ${id.slice(7, 19)}`);
    await removeImage(client, id);
    await removeImage(client, id);
    await expect(findImage(client, id)).rejects.toMatchObject({ code: 'usage.sandbox' });
  });

  test('an image that a killed process has left is found and removed', async () => {
    const labels = JSON.stringify({ ...ownLabels(), 'dev.toolenv.owner': '1-1' });
    const body = packedTar([{ path: 'Dockerfile', bytes: `FROM ${image}\nENV OF=orphan${process.pid}\n` }]);
    const answer = await client.stream('POST', `/build?${new URLSearchParams({ labels })}`, { body });
    const log = Buffer.concat(await answer.toArray()).toString();
    const [, id = ''] = /"aux":\{"ID":"sha256:(\w{12})/.exec(log) ?? [];
    const left = async () => (await orphans(client)).find(({ name }) => name === `image ${id}`);
    await (await left())!.remove();
    expect(await left()).toBeUndefined();
    await expect(findImage(client, id)).rejects.toMatchObject({ code: 'usage.sandbox' });
  });

  test('a build that fails quotes its log, and a slow one ends', async () => {
    const own = `FROM ${image}\nENV OF=${process.pid}\n`;
    const base = await buildImage(client, [{ path: 'Dockerfile', bytes: own }], { timeout: 60_000 });
    const build = (run: string, timeout = 60_000, signal?: AbortSignal) => {
      const bytes = `FROM ${base.slice(7)}\nRUN ${run}\n`;
      return buildImage(client, [{ path: 'Dockerfile', bytes }], { timeout, signal });
    };
    await expect(build('echo the-cause; exit 3')).rejects.toMatchObject({
      code: 'usage.sandbox',
      message: expect.stringMatching(/exit status 3.*\n.*the-cause/s),
    });
    await expect(build('sleep 3; exit 1', 1500)).rejects.toThrow('it took more than 1500 ms');
    const signal = AbortSignal.timeout(1000);
    await expect(build('sleep 4; exit 1', 60_000, signal)).rejects.toMatchObject({ name: 'TimeoutError' });
    // podman keeps the containers of builds that were given up.
    const list = ['ps', '--all', '--external', '--quiet', '--filter', `ancestor=${base.slice(7)}`];
    const left = execFileSync('podman', list, { encoding: 'utf8' }).split('\n').filter(Boolean);
    execFileSync('podman', ['rm', '--force', '--ignore', ...left, 'none'], { stdio: 'pipe' });
    await removeImage(client, base);
  });

  test('a sandbox of another folder and user without a replacement says that its container has ended', async () => {
    const container = await start({ disk: 16, rights: 'usual' });
    await container.exec('mkdir /app; chown 1000 /app; chmod 1777 /tmp', short);
    const sandbox = new ContainerSandbox(container, { ...short, folder: '/app', user: '1000' });
    await sandbox.write('sub/a.txt', 'a');
    expect((await sandbox.run('pwd; id -u; cat sub/a.txt; cd sub; export X=1')).stdout).toBe('/app\n1000\na');
    expect((await sandbox.run('pwd; echo $X')).stdout).toBe('/app/sub\n1\n');
    expect((await sandbox.list('.')).map(({ name }) => name)).toEqual(['sub']);
    const full = await sandbox.run('while :; do head -c 4000000 /dev/zero >> big; sleep 0.2; done');
    expect(full).toMatchObject({ exitCode: 137, outOfMemory: false });
    expect(full.lost).toBeUndefined();
    expect(full.stderr).toContain('its disk is full');
    expect(await sandbox.run('true')).toMatchObject({
      exitCode: 137,
      stderr: expect.stringContaining('no command runs in it'),
    });
    await expect(sandbox.read('sub/a.txt')).rejects.toMatchObject({ code: 'usage.sandbox_file' });
    expect((await container.archive('/app/sub/a.txt', roomy)).files).toMatchObject([
      { path: '/app/sub/a.txt' },
    ]);
    await sandbox.close();
    await expect(container.exec('true', short)).rejects.toThrow();
  });
});
