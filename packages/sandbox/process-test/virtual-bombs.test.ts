/** The shell in JavaScript under commands that need too much. */
import { openSandboxes } from '@toolenv/core/plugins';
import { expect, test } from 'vitest';

test('bombs of memory and a full disk are results', async () => {
  const host = await openSandboxes('@toolenv/sandbox/virtual-v1?memory=128&disk=8');
  const sandbox = await host.sandbox();
  try {
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
  } finally {
    await host.close();
  }
});
