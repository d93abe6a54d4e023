import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import bubblewrap from '../src/bubblewrap/bubblewrap-v1.ts';
import { providerCases } from './provider-cases.ts';

const missing = existsSync('/usr/bin/bwrap') ? undefined : 'bwrap is not installed';

describe.skipIf(missing)(`bubblewrap${missing ? ` (skipped: ${missing})` : ''}`, () => {
  const { use } = providerCases(bubblewrap, { memory: 128, disk: 8, processes: 64 });

  test(
    'functions and arrays are carried too',
    use(async (sandbox) => {
      await sandbox.run(
        'f() { echo "f $1"; }; A=(1 \'2 3\'); declare -A M=([x]=y); cd /tmp; alias ll=ls; mkdir "it\'s"; cd "it\'s"',
      );
      expect((await sandbox.run('f 1; echo "${A[1]} ${M[x]}"; pwd')).stdout).toBe("f 1\n2 3 y\n/tmp/it's\n");
    }),
  );

  test(
    'a fork bomb, a memory bomb and a full disk are results, and the sandbox goes on',
    use(async (sandbox) => {
      const bomb = await sandbox.run(':(){ :|:& };:; sleep 1', { timeout: 2000 });
      console.log(bomb);
      const start = performance.now();
      expect((await sandbox.run('echo on', { timeout: 5000 })).stdout).toBe('on\n');
      console.log(performance.now() - start);
      const memory = await sandbox.run(
        `python3 -c "b = bytearray(10**9)" || perl -e '$x = "a" x 1000000000; print length $x'`,
      );
      console.log(memory);
      expect(memory.exitCode).not.toBe(0);
      const disk = await sandbox.run('head -c 20000000 /dev/zero > big; echo $?; cat big | wc -c');
      console.log(disk);
      expect(disk.stdout.startsWith('0')).toBe(false);
      expect((await sandbox.run('echo on')).stdout).toBe('on\n');
    }),
    30_000,
  );

  test(
    'a command that kills everything in the sandbox is a result that says so',
    use(async (sandbox) => {
      await sandbox.run('echo 1 > kept');
      const killed = await sandbox.run('kill -9 -1; sleep 1');
      expect(killed).toMatchObject({ exitCode: 137, lost: 'files' });
      expect((await sandbox.run('ls; echo on')).stdout).toBe('on\n');
    }),
  );
});

void readFileSync;
