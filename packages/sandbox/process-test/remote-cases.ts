/** What every provider of remote machines must do, as tests against a stand-in of its service, through the client of its vendor. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { completeOptions, type SandboxProvider } from '@toolenv/core/plugins';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import type { MachineService, RemoteOptions } from '../src/remote/machine.ts';
import { RemoteHost, type RetryPolicy } from '../src/remote/remote-provider.ts';
import { providerCases } from '../test/provider-cases.ts';
import { type Api, type FaultKind, StandIn } from './stand-in/stand-in.ts';

/** Why the stand-ins cannot run here. */
export const missing: string | undefined = existsSync('/usr/bin/bwrap')
  ? undefined
  : 'bwrap is not installed';

export interface RemoteCases<Options extends RemoteOptions> {
  provider: SandboxProvider<Options>;
  api: Api;
  /** Variables with which the provider finds the service, by its URL. */
  env(url: string): Record<string, string>;
  connect(options: Options): Promise<MachineService>;
  /** Requests of the API. */
  create: RegExp;
  exec: RegExp;
  remove: RegExp;
  /** The shortest time to live of the service, in seconds. */
  shortestTtl: number;
}

/** Short, because tests wait for it. */
const patience: RetryPolicy = { begin: 20_000, answer: 4_000 };
const code = 'infrastructure.sandbox';

export function remoteCases<Options extends RemoteOptions>(cases: RemoteCases<Options>): void {
  const { provider, api, create, exec, remove } = cases;
  let standIn: StandIn;
  const before: Record<string, string | undefined> = {};
  beforeAll(async () => {
    standIn = await StandIn.start(api);
    for (const [name, value] of Object.entries(cases.env(standIn.url))) {
      before[name] = process.env[name];
      process.env[name] = value;
    }
  });
  const hosts: RemoteHost[] = [];
  afterEach(async () => {
    standIn.misbehave();
    standIn.speed = 1;
    await Promise.all(hosts.splice(0).map((host) => host.close()));
  });
  afterAll(async () => {
    for (const [name, value] of Object.entries(before)) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
    const left = [...standIn.machines.keys()];
    await standIn.stop();
    expect(left).toEqual([]);
  });

  const optionsWith = (given: Partial<RemoteOptions> = {}) =>
    completeOptions(provider.options, given, provider.name) as Options;
  const impatient = async (given: Partial<RemoteOptions> = {}) => {
    const options = { ...optionsWith(), ...given };
    const host = new RemoteHost(await cases.connect(options), options, patience);
    hosts.push(host);
    return host;
  };

  describe('as every provider', () => {
    providerCases(provider);
  });

  describe('when a machine fails', () => {
    const faults: FaultKind[] = ['error', 'hang', 'drop', 'vanish', 'garbage', 'flood', 'deny'];
    test.each(faults)('"%s" ends the sandbox, and nothing is left', async (kind) => {
      const host = await impatient();
      const sandbox = await host.sandbox();
      expect((await sandbox.run('echo on')).stdout).toBe('on\n');
      const memory = process.memoryUsage().rss;
      standIn.misbehave({ kind, at: exec, times: 1 });
      const error = await sandbox.run('echo off', { timeout: 1000 }).catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ code, message: expect.stringMatching(/^The machine .+ failed: ./) });
      expect(String(error)).not.toContain(api.key);
      expect(process.memoryUsage().rss - memory).toBeLessThan(400e6);
      await expect(sandbox.run('echo on')).rejects.toMatchObject({ code });
      await expect(sandbox.read('x')).rejects.toMatchObject({ code });
      await sandbox.close();
      await host.close();
      expect(standIn.machines.size).toBe(0);
    });

    test('a command that fails or kills what runs it is a result', async () => {
      const host = await impatient();
      const sandbox = await host.sandbox();
      await sandbox.run('export KEPT=1; echo 1 > file');
      expect(await sandbox.run('kill -9 $PPID; sleep 9', { timeout: 3000 })).toMatchObject({
        exitCode: 137,
        truncated: true,
        lost: 'shell',
      });
      expect((await sandbox.run('kill -9 $$')).exitCode).toBe(137);
      expect(
        await sandbox.run('rm -rf /tmp/* /tmp/.[a-z]* /dev/shm/.[a-z]*; cat file; exit 4'),
      ).toMatchObject({
        stdout: '1\n',
        exitCode: 4,
      });
      expect(await sandbox.run('head -c 1000000000 /dev/zero')).toMatchObject({
        exitCode: 137,
        truncated: true,
      });
      expect((await sandbox.run('head -c 99999999 /dev/zero > big; echo $?')).stdout).toBe('1\n');
      await expect(sandbox.write('more', 'x'.repeat(99_999))).rejects.toMatchObject({
        code: 'usage.sandbox_file',
      });
      const start = performance.now();
      expect((await sandbox.run('(sleep 30; echo late) & echo first')).stdout).toBe('first\n');
      expect(performance.now() - start).toBeLessThan(15_000);
      await host.close();
    });
  });

  describe('when machines begin and end', () => {
    test('a service that is busy is asked again', async () => {
      const host = await impatient();
      standIn.misbehave({ kind: 'busy', at: create, times: 2 });
      const start = performance.now();
      const sandbox = await host.sandbox();
      expect(performance.now() - start).toBeGreaterThan(2000);
      expect((await sandbox.run('echo on')).stdout).toBe('on\n');
      await host.close();
    });

    test.each<FaultKind>(['error', 'late', 'deny', 'garbage'])(
      'a machine that does not begin ("%s") is a fault without the key, and is not left',
      async (kind) => {
        const host = await impatient();
        standIn.misbehave({ kind, at: create });
        const error = await host.sandbox().catch((thrown: unknown) => thrown);
        expect(error).toMatchObject({ code, message: expect.stringMatching(/^A machine did not start: ./) });
        expect(`${error}${JSON.stringify(error)}${(error as Error).cause}`).not.toContain(api.key);
        standIn.misbehave();
        await host.close();
        expect(standIn.machines.size).toBe(0);
      },
    );

    test('a machine is removed at the third try; after that, its time to live ends it', async () => {
      const host = await impatient({ ttl: 60 });
      const [one, other] = [await host.sandbox(), await host.sandbox()];
      standIn.misbehave({ kind: 'error', at: remove, times: 2 });
      await one.close();
      expect(standIn.machines.size).toBe(1);
      standIn.misbehave({ kind: 'error', at: remove });
      await expect(other.close()).rejects.toMatchObject({
        code,
        message: expect.stringContaining('its time to live ends it'),
      });
      for (const machine of standIn.machines.values()) machine.hurry(60);
      await vi.waitFor(() => expect(standIn.machines.size).toBe(0), 20_000);
      standIn.misbehave();
      await host.close();
    });

    test('spare machines are kept ready and alive, and end with the host', async () => {
      const { shortestTtl } = cases;
      standIn.speed = shortestTtl / 3;
      const host = await impatient({ spare: 2, ttl: 3 });
      await vi.waitFor(() => expect(standIn.machines.size).toBe(2), 20_000);
      await sleep(5000);
      expect(standIn.machines.size).toBe(2);
      const sandbox = await host.sandbox();
      expect((await sandbox.run('echo on')).stdout).toBe('on\n');
      await host.close();
      expect(standIn.machines.size).toBe(0);
      await expect(host.sandbox()).rejects.toMatchObject({ code });
    });

    test('what a killed process leaves is listed and can be removed, and else ends by itself', async () => {
      const options = optionsWith();
      const host = await impatient();
      const used = await host.sandbox();
      const script = `${import.meta.dirname}/leave-machines.ts`;
      const args = ['--import', 'tsx', '--conditions=@toolenv/source', script, provider.name];
      const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
      const closed = once(child, 'close');
      await Promise.race([once(child.stdout, 'data'), closed]);
      child.kill('SIGKILL');
      await closed;
      const { problem, orphans } = await provider.inspect(options);
      expect(problem).toBeUndefined();
      const left = [...standIn.machines.keys()].slice(1).map((id) => `machine ${id}`);
      expect(orphans.map(({ name }) => name)).toEqual(left);
      expect(left).toHaveLength(2);
      await orphans[0]!.remove();
      expect((await provider.inspect(options)).orphans.map(({ name }) => name)).toEqual(left.slice(1));
      for (const machine of standIn.machines.values()) machine.hurry(30);
      await vi.waitFor(() => expect(standIn.machines.size).toBe(1), 20_000);
      expect((await used.run('echo on')).stdout).toBe('on\n');
      await host.close();
    }, 120_000);

    test('without a key, and with a wrong one, the report says why', async () => {
      const { E2B_API_KEY, DAYTONA_API_KEY } = process.env;
      try {
        delete process.env.E2B_API_KEY;
        delete process.env.DAYTONA_API_KEY;
        expect((await provider.inspect(optionsWith())).problem).toMatch(/_API_KEY/);
        await expect(provider.open(optionsWith())).rejects.toMatchObject({ code: 'usage.sandbox' });
      } finally {
        Object.assign(process.env, E2B_API_KEY && { E2B_API_KEY }, DAYTONA_API_KEY && { DAYTONA_API_KEY });
      }
      standIn.misbehave({ kind: 'deny', at: /./ });
      const { problem } = await provider.inspect(optionsWith());
      expect(problem).toContain('is not valid');
      expect(problem).not.toContain(api.key);
    });
  });
}
