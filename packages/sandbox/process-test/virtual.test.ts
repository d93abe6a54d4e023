/** The shell in JavaScript. */
import { execFile } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { KeptFiles, ShellThread } from '../src/virtual/shell-thread.ts';
import { VirtualSandbox } from '../src/virtual/virtual-sandbox.ts';
import virtual from '../src/virtual/virtual-v1.ts';
import { providerCases } from '../test/provider-cases.ts';

const { use } = providerCases(virtual, { memory: 128, disk: 8 });

test(
  'the files before a killed command are there for a new shell: contents, links, modes and what was removed',
  use(async (sandbox) => {
    await sandbox.run(
      'mkdir -p d/e; echo kept > d/kept; ln -s d/kept link; chmod 600 d/kept; echo x > gone; mv d/e f',
    );
    await sandbox.run('rm gone; echo more >> d/kept; cp d/kept d/copy');
    // A loop that never lets the thread answer.
    const { lost, timedOut } = await sandbox.run('while true; do :; done', { timeout: 100 });
    expect(timedOut).toBe(true);
    const { stdout } = await sandbox.run('cat link; stat -c "%a %n" d/kept; ls d . ; readlink link; pwd');
    expect(stdout).toBe('kept\nmore\n600 d/kept\nd:\ncopy\nkept\n\n.:\nd\nf\nlink\nd/kept\n/work\n');
    expect([undefined, 'shell']).toContain(lost);
  }),
);

test.each([
  ['rm -rf /bin; ln -s /tmp /bin'],
  ['rm -rf /tmp; ln -s /work /tmp'],
  ['rm -rf /tmp /usr; echo 1 > /tmp; echo 1 > /usr'],
  ['rm /bin/ls; mkdir /bin/ls'],
  ['rm -rf /dev /proc; ln -s /work /dev; echo 1 > /proc'],
  ['cd /; rm -rf /work; ln -s /work /work'],
  ['rm -rf /'],
])('a new shell begins after a command that replaced what the system has: %s', (command) =>
  use(async (sandbox) => {
    expect((await sandbox.run(command)).exitCode).toBe(0);
    expect(await sandbox.run('while true; do :; done', { timeout: 100 })).toMatchObject({ lost: 'shell' });
    expect((await sandbox.run('echo on')).stdout).toBe('on\n');
  })(),
);

test(
  'a command that makes the shell throw after its time is a result of the next one',
  use(async (sandbox) => {
    await sandbox.run('echo 1 > kept; head -c 4000000 /dev/urandom > big');
    const late = 'while true; do tar czf big.tgz big; done';
    expect(await sandbox.run(late, { timeout: 500 })).toMatchObject({ timedOut: true });
    await sleep(2000);
    const next = await sandbox.run('echo on');
    if (next.stdout !== 'on\n') expect(next).toMatchObject({ exitCode: 134, lost: 'shell' });
    expect((await sandbox.run('cat kept')).stdout).toBe('1\n');
  }),
  20_000,
);

test(
  'no other language and no network is reached',
  use(async (sandbox) => {
    for (const command of [
      'python3 -c 1',
      'js-exec 1',
      'node -e 1',
      'curl http://127.0.0.1',
      'wget http://127.0.0.1',
    ]) {
      expect((await sandbox.run(command)).exitCode, command).toBe(127);
    }
  }),
);

describe('a thread that fails', () => {
  const limits = { memory: 128, disk: 8, timeout: 2000, output: 1000 };
  let thread: ShellThread;
  let sandbox: VirtualSandbox;
  const start = (files: KeptFiles = new KeptFiles()) =>
    new ShellThread({ memory: 128, disk: 8, home: '/work', files: files.all() });
  beforeEach(async () => {
    thread = start();
    sandbox = new VirtualSandbox(thread, limits, { restart: start, closed() {} });
    await sandbox.write('kept', 'x');
  });
  afterEach(() => sandbox.close());

  test('an exception beside the command is a result, and the files are those before it', async () => {
    // Makes the thread throw where it catches nothing.
    const crashed = await sandbox.run('echo lost > kept', { timeout: -1 });
    expect(crashed).toMatchObject({ exitCode: 134, stderr: 'bash: the shell crashed\n', lost: 'shell' });
    expect((await sandbox.run('cat kept')).stdout).toBe('x');
  });

  test('an exception is a result too when the exit of the thread is seen at the same moment', async () => {
    const crashed = sandbox.run('echo lost > kept', { timeout: -1 });
    await new Promise((resolve) => setTimeout(resolve));
    // This process sees nothing while the thread throws and exits.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 500);
    expect(await crashed).toMatchObject({ exitCode: 134, lost: 'shell' });
  });

  test('a thread that was ended from outside is a fault', async () => {
    await thread.end();
    const fault = { code: 'infrastructure.sandbox' };
    await expect(sandbox.run('cat kept')).rejects.toMatchObject(fault);
    await expect(sandbox.read('kept')).rejects.toMatchObject(fault);
  });

  test.skipIf(process.platform === 'win32')('a command that the machine cannot load is a fault', async () => {
    const script = `${import.meta.dirname}/exhaust-files.ts`;
    const args = ['--import', 'tsx', '--conditions=@toolenv/source', script];
    const limited = ['-c', 'ulimit -n 200; exec "$0" "$@"', process.execPath, ...args];
    const { stdout } = await promisify(execFile)('/bin/sh', limited);
    expect(stdout).toMatch(
      /^infrastructure.sandbox: The virtual shell could not load a command: EMFILE: too many open files/,
    );
  });
});
