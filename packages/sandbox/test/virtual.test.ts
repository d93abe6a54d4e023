/** The shell in JavaScript. */
import { expect, test } from 'vitest';
import virtual from '../src/virtual/virtual-v1.ts';
import { providerCases } from './provider-cases.ts';

const { use } = providerCases(virtual, { memory: 128, disk: 8 });

test(
  'a warm command takes some milliseconds',
  use(async (sandbox) => {
    const times: number[] = [];
    for (let count = 0; count < 40; count++) {
      const start = performance.now();
      await sandbox.run('echo 1');
      times.push(performance.now() - start);
    }
    // 1.3 on an idle machine.
    expect(times.sort((a, b) => a - b)[20]!).toBeLessThan(10);
  }),
);

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

test(
  'bombs of memory and a full disk are results',
  use(async (sandbox) => {
    for (const bomb of [
      'x=aaaaaaaaaaaaaaaa; while true; do x="$x$x"; done',
      'a=(); x=$(seq 1 100000); while true; do a+=("$x$RANDOM"); done',
      'f() { f; }; f',
      'awk \'BEGIN { while (1) a[i++] = i "xxxxxxxxxxxxxxxxxxxxxxxx" }\'',
      "jq -n '[range(1e9)]'",
    ]) {
      const { exitCode } = await sandbox.run(bomb, { timeout: 3000 });
      expect(exitCode, bomb).not.toBe(0);
    }
    const full = await sandbox.run('seq 1 200000 > 1; for i in 2 3 4 5 6 7 8 9; do cp 1 $i || exit 7; done');
    expect(full).toMatchObject({ exitCode: 7, stderr: expect.stringContaining('ENOSPC') });
    const big = sandbox.write('big', new Uint8Array(9 * 2 ** 20));
    await expect(big).rejects.toMatchObject({ code: 'usage.sandbox_file' });
    expect((await sandbox.run('echo on')).stdout).toBe('on\n');
  }),
  30_000,
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
