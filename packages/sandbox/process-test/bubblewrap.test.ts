/** Processes in namespaces, where bwrap is installed. */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { completeOptions } from '@toolenv/core/plugins';
import { describe, expect, test } from 'vitest';
import type { BubblewrapLimits } from '../src/bubblewrap/bubble.ts';
import bubblewrap from '../src/bubblewrap/bubblewrap-v1.ts';
import { providerCases } from '../test/provider-cases.ts';

const missing = existsSync('/usr/bin/bwrap') ? undefined : 'bwrap is not installed';
const limits = { memory: 128, disk: 8, processes: 64 };

test('without bwrap, opening and the report say how to install it', async () => {
  const options = completeOptions(bubblewrap.options, { bwrap: '/none' }, 'b') as unknown as BubblewrapLimits;
  const code = 'usage.sandbox';
  await expect(bubblewrap.open(options)).rejects.toMatchObject({
    code,
    message: expect.stringContaining('apt-get'),
  });
  expect((await bubblewrap.inspect(options)).problem).toContain('apt-get install bubblewrap');
});

/** What `ps` prints. Containers may have hundreds of processes with long arguments. */
const processes = (...args: string[]) => execFileSync('ps', args, { maxBuffer: 2 ** 28 }).toString();

/** The process that made the namespaces in which a command runs. Other tests have sandboxes too. */
function ownerOf(command: string): number {
  const rows = processes('axo', 'pid,ppid,pidns,args')
    .split('\n')
    .map((line) => line.trim().split(/ +/))
    .map(([pid, parent, space, ...args]) => ({ pid: Number(pid), parent: Number(parent), space, args }));
  const { space } = rows.find(({ args }) => args.join(' ') === command)!;
  const first = rows.find((each) => each.space === space && each.args[0] === '/usr/bin/bwrap')!;
  return first.parent;
}

describe.skipIf(missing)(`bubblewrap${missing ? ` (skipped: ${missing})` : ''}`, () => {
  const { use, host } = providerCases(bubblewrap, limits);

  test(
    'functions, arrays and variables that are not exported are carried too',
    use(async (sandbox) => {
      const define = `f() { echo "f $1"; }; A=(1 '2 3'); declare -A M=([x]=y); mkdir "it's"; cd "it's"; exit 0`;
      await sandbox.run(define);
      const { stdout } = await sandbox.run(`f 1; echo "$\{A[1]} $\{M[x]}"; pwd`);
      expect(stdout).toBe("f 1\n2 3 y\n/work/it's\n");
    }),
  );

  test(
    'a fork bomb, a memory bomb, gigabytes of output and a full disk are results',
    use(async (sandbox) => {
      expect(await sandbox.run(':(){ :|:& };:; sleep 9', { timeout: 1000 })).toMatchObject({
        timedOut: true,
      });
      expect((await sandbox.run('echo on')).stdout).toBe('on\n');
      const memory = await sandbox.run(`perl -e '$x = "a" x 1000000000; print length $x'`);
      expect(memory.exitCode).not.toBe(0);
      const gigabyte = await sandbox.run('head -c 1000000000 /dev/zero');
      expect(gigabyte).toMatchObject({ exitCode: 137, truncated: true });
      const { stdout } = await sandbox.run('head -c 20000000 /dev/zero > big; echo $?; wc -c < big');
      expect(stdout).not.toMatch(/^0/);
      expect(Number(stdout.split('\n')[1])).toBeLessThanOrEqual(8 * 2 ** 20);
    }),
    30_000,
  );

  test(
    'a command that kills everything in the sandbox is a result, and the next one begins anew',
    use(async (sandbox) => {
      await sandbox.run('echo 1 > kept');
      expect(await sandbox.run('kill -9 -1; sleep 1')).toMatchObject({ exitCode: 137, lost: 'files' });
      expect((await sandbox.run('ls; echo on')).stdout).toBe('on\n');
    }),
  );

  test.each([
    ['stops its parent', 'kill -STOP $PPID', { timedOut: true, exitCode: 124 }],
    ['stops all it sees', 'cd /proc; for p in [0-9]*; do kill -STOP $p; done', { timedOut: true }],
    ['ends its sandbox a moment later', '(sleep 0.05; kill -9 -1) & true', { exitCode: 0 }],
  ])('a command that %s gets a result in its time, and the next one runs', async (_, command, result) => {
    const sandbox = await host().sandbox();
    await sandbox.write('kept', '1');
    const start = performance.now();
    expect(await sandbox.run(command, { timeout: 500 })).toMatchObject(result);
    expect(performance.now() - start).toBeLessThan(3000);
    await sleep(200);
    const { lost } = await sandbox.run('echo on');
    expect([undefined, 'files']).toContain(lost);
    expect(lost === 'files').toBe(command.includes('kill -9'));
    expect((await sandbox.run('echo on')).stdout).toBe('on\n');
    await sandbox.close();
  });

  test(
    'commands neither see nor reach the process that reads their files, nor the files by which they entered',
    use(async (sandbox) => {
      const { stdout } = await sandbox.run(
        'readlink /proc/[0-9]*/exe; readlink /proc/self/fd/*; grep NoNewPrivs /proc/self/status; echo $PPID',
      );
      expect(stdout).not.toContain('node');
      expect(stdout).not.toMatch(/user:|mnt:|pid:/);
      expect(stdout).toMatch(/NoNewPrivs:\t1\n0\n$/);
    }),
  );

  test(
    'a file that is swapped while it is read is read, or refused at once',
    use(async (sandbox) => {
      const code = 'usage.sandbox_file';
      const makes = { fifo: 'mkfifo', device: 'ln -s /dev/zero', folder: 'mkdir', link: 'ln -s /work' };
      for (const [x, make] of Object.entries(makes)) {
        await sandbox.run(`(while :; do rm -rf ${x}; ${make} ${x}; rm -rf ${x}; echo 1 > ${x}; done) &`);
        const start = performance.now();
        for (let tries = 0; tries < 100; tries++)
          for (const asked of [() => sandbox.read(x), () => sandbox.write(x, '1')])
            await asked().catch((error) => expect(error, x).toMatchObject({ code }));
        expect(performance.now() - start, x).toBeLessThan(5000);
      }
    }),
    60_000,
  );

  test(
    'a file that a process leases is refused at once',
    use(async (sandbox) => {
      const lease = `perl -e 'use Fcntl; $SIG{IO} = "IGNORE"; open(F, "<", "x"); fcntl(F, 1024, 0) or exit 3; sleep 60' & sleep 0.3`;
      await sandbox.run(`echo 1 > x; ${lease}`);
      await expect(sandbox.write('x', '2')).rejects.toThrow('a process holds it');
    }),
  );

  test(
    'links and FIFOs lead nowhere, and nothing of the machine can be changed or reached',
    use(async (sandbox) => {
      await sandbox.run('ln -s /etc/passwd link; ln -s / root; mkfifo fifo');
      const code = 'usage.sandbox_file';
      for (const path of ['link', 'root/etc/shadow', 'fifo', '../../proc/1/environ/x', '/dev/zero']) {
        await expect(sandbox.read(path), path).rejects.toMatchObject({ code });
      }
      const tries = [
        'touch /usr/x',
        'unshare -Ur true',
        'mount -t tmpfs x /mnt',
        'echo > /dev/tcp/127.0.0.1/22',
      ];
      for (const command of tries) expect((await sandbox.run(command)).exitCode, command).not.toBe(0);
      const { stdout } = await sandbox.run(
        "tr '\\0' '\\n' < /proc/1/environ; grep CapEff /proc/self/status; ls /sys /home /root",
      );
      expect(stdout).toBe('CapEff:\t0000000000000000\n');
    }),
  );

  test(
    'a process in the background neither delays a command nor outlives the sandbox',
    use(async (sandbox) => {
      const start = performance.now();
      const { stdout } = await sandbox.run('(sleep 4321; echo late) & echo first');
      expect(stdout).toBe('first\n');
      expect(performance.now() - start).toBeLessThan(3000);
      await sandbox.run('yes & true');
      expect((await sandbox.run('echo on')).stdout).toBe('on\n');
      await sandbox.close();
      expect(processes('ax')).not.toContain('sleep 4321');
    }),
  );

  test('a sandbox that is killed from outside is an infrastructure error', async () => {
    const sandbox = await host().sandbox();
    const run = sandbox.run('sleep 9876');
    run.catch(() => {});
    await sleep(100);
    const owner = ownerOf('sleep 9876');
    expect(owner).toBeGreaterThan(1);
    process.kill(owner, 'SIGKILL');
    await expect(run).rejects.toMatchObject({ code: 'infrastructure.sandbox' });
    await expect(sandbox.read('x')).rejects.toMatchObject({ code: 'infrastructure.sandbox' });
    await sandbox.close();
  });

  test('a sandbox whose commands have less time than it needs to start a shell begins', async () => {
    const options = completeOptions(bubblewrap.options, { ...limits, timeout: 1 }, 'b');
    const hurried = await bubblewrap.open(options as unknown as BubblewrapLimits);
    try {
      const sandbox = await hurried.sandbox();
      expect(await sandbox.run('true')).toMatchObject({ timedOut: true, exitCode: 124 });
      expect((await sandbox.run('echo on', { timeout: 10_000 })).stdout).toBe('on\n');
    } finally {
      await hurried.close();
    }
  });

  test('the report names what limits memory and processes', async () => {
    const options = completeOptions(bubblewrap.options, limits, 'b') as unknown as BubblewrapLimits;
    const { problem, limits: said } = await bubblewrap.inspect(options);
    expect(problem).toBeUndefined();
    expect(Object.keys(said).sort()).toEqual(['disk', 'memory', 'processes']);
    expect(said.memory).toMatch(/^(cgroup|each process by itself)/);
  });
});
