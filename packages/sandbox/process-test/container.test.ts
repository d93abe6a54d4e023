/** Containers, run by podman where it is installed. */
import { completeOptions } from '@toolenv/core/plugins';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Container } from '../src/container/container.ts';
import container from '../src/container/container-v1.ts';
import { connectDocker } from '../src/container/docker-client.ts';
import { label, ownLabels, thisProcess } from '../src/process-owner.ts';
import { providerCases } from '../test/provider-cases.ts';
import { image, missing, PodmanService } from './podman-service.ts';

describe.skipIf(missing)(`containers${missing ? ` (skipped: ${missing})` : ''}`, () => {
  const service = new PodmanService();
  beforeAll(() => service.start(), 60_000);
  afterAll(() => service.stop());
  const given = { memory: 64, disk: 8, processes: 64, image, socket: service.socket };
  type Options = Parameters<typeof container.open>[0];
  const options = completeOptions(container.options, given, 'container-v1') as unknown as Options;
  const { use, host } = providerCases(container, given);

  test(
    'a fork bomb, a memory bomb, gigabytes of output and a full disk are results',
    use(async (sandbox) => {
      const bomb = await sandbox.run('f() { f | f & }; f; sleep 9', { timeout: 2000 });
      // Before the time is over, the shell may itself be refused a process and end with 2, or be killed when the shells have used up the memory.
      expect([2, 124, 137]).toContain(bomb.exitCode);
      expect((await sandbox.run('echo on')).stdout).toBe('on\n');
      const memory = await sandbox.run(`awk 'BEGIN { x = "aaaaaaaa"; while (1) x = x x }'`);
      expect(memory).toMatchObject({ exitCode: 137, outOfMemory: true });
      const gigabyte = await sandbox.run('head -c 1000000000 /dev/zero');
      expect(gigabyte).toMatchObject({ exitCode: 137, truncated: true });
      const { stdout } = await sandbox.run('head -c 20000000 /dev/zero > big; echo $?; wc -c < big');
      expect(stdout).toBe(`1\n${8 * 2 ** 20}\n`);
    }),
  );

  test(
    'the root is read-only, there are no rights and no network but the loopback',
    use(async (sandbox) => {
      const { stdout } = await sandbox.run(
        'touch /x 2>/dev/null || echo read-only; mount -t tmpfs x /mnt 2>/dev/null || echo no mount; grep -E "CapEff|NoNewPrivs" /proc/self/status; ls /sys/class/net',
      );
      expect(stdout).toBe('read-only\nno mount\nCapEff:\t0000000000000000\nNoNewPrivs:\t1\nlo\n');
    }),
  );

  test(
    'a process in the background neither delays a command nor stops the next one',
    use(async (sandbox) => {
      expect((await sandbox.run('(sleep 60; echo late) & echo first')).stdout).toBe('first\n');
      expect((await sandbox.run('kill -9 -1; sleep 0; echo on')).stdout).toBe('on\n');
    }),
  );

  test('an image that is not there, and a daemon that is not there, are named with the remedy', async () => {
    await expect(container.open({ ...options, image: 'none' })).rejects.toThrow('docker pull none');
    const { problem } = await container.inspect({ ...options, socket: '/none.sock' });
    expect(problem).toContain('Neither Docker nor podman answers at /none.sock');
  });

  test('what a killed process has left is found and removed, and what runs is left alone', async () => {
    const sandbox = await host().sandbox();
    expect(ownLabels()[label]).toBe('v1');
    const client = await connectDocker({ socket: service.socket });
    const labels = { 'dev.toolenv.owner': '1-1' };
    const ended = await Container.start(client, { image, memory: 64, processes: 64, labels });
    const found = async () => {
      const { orphans } = await container.inspect(options);
      return orphans.find(({ name }) => name.startsWith(ended.id.slice(0, 12)));
    };
    await (await found())!.remove();
    expect(await found()).toBeUndefined();
    expect((await sandbox.run('echo on')).stdout).toBe('on\n');
    await sandbox.close();
  });

  test('a container that vanishes and a killed daemon are infrastructure errors', async () => {
    const [one, other] = await Promise.all([host().sandbox(), host().sandbox()]);
    const client = await connectDocker({ socket: service.socket });
    // Other tests may run containers, too.
    const filters = JSON.stringify({ label: [`dev.toolenv.owner=${thisProcess()}`] });
    const listed = await client.ask('GET', `/containers/json?filters=${encodeURIComponent(filters)}`);
    const running = listed as { Id: string }[];
    for (const { Id } of running) await client.ask('DELETE', `/containers/${Id}?force=true`);
    await expect(one.run('true')).rejects.toMatchObject({ code: 'infrastructure.sandbox' });
    service.kill();
    await expect(other.run('true')).rejects.toMatchObject({ code: 'infrastructure.sandbox' });
    await expect(other.close()).rejects.toMatchObject({ code: 'infrastructure.sandbox' });
    await service.serve();
    await Promise.all([one.close(), other.close()]);
  });
});
