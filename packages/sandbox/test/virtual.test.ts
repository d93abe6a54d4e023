import { expect, test } from 'vitest';
import virtual from '../src/virtual/virtual-v1.ts';
import { providerCases } from './provider-cases.ts';

const { use, host } = providerCases(virtual, { memory: 128, disk: 8 });

test(
  'a command is warm within 5 ms of its own time',
  use(async (sandbox) => {
    const times: number[] = [];
    for (let count = 0; count < 60; count++) {
      const start = performance.now();
      await sandbox.run('echo 1');
      times.push(performance.now() - start);
    }
    const median = times.sort((a, b) => a - b)[30]!;
    console.log('median', median);
    expect(median).toBeLessThan(15);
  }),
);

test(
  'a heap bomb is a result, and the files before it stay',
  use(async (sandbox) => {
    await sandbox.run(
      'mkdir d; echo kept > d/kept.txt; ln -s d/kept.txt link; chmod 755 d/kept.txt; rm -rf nothing',
    );
    const bomb = await sandbox.run('x=aaaaaaaaaaaaaaaa; a=(); while true; do x="$x$x"; a+=("$x"); done');
    expect(bomb.exitCode).not.toBe(0);
    console.log(bomb);
    expect((await sandbox.run('cat link; ls -l d | cut -c1-10')).stdout).toContain('kept\n');
  }),
  30_000,
);

test(
  'a full disk is a result',
  use(async (sandbox) => {
    const full = await sandbox.run(
      'for i in 1 2 3 4 5 6 7 8 9 10 11 12; do head -c 1000000 /dev/zero > $i; seq 1 200000 > $i; done; echo $?',
    );
    console.log(full);
    expect(full.exitCode + Number(full.stdout.trim() || 1)).not.toBe(0);
    await expect(sandbox.write('big', new Uint8Array(9 * 2 ** 20))).rejects.toMatchObject({
      code: 'usage.sandbox_file',
    });
    expect((await sandbox.run('echo on')).stdout).toBe('on\n');
  }),
);

void host;
