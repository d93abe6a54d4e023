/** What every kind of sandbox must do, as tests. */
import type { Sandbox } from '@toolenv/core';
import { completeOptions, type SandboxHost, type SandboxProvider } from '@toolenv/core/plugins';
import { afterAll, beforeAll, expect, test } from 'vitest';

/** A sandbox for a test, which ends with it. */
export type Use = (body: (sandbox: Sandbox) => Promise<void>) => () => Promise<void>;

export function providerCases<Options>(
  provider: SandboxProvider<Options>,
  options: Partial<Options> = {},
): { use: Use; host: () => SandboxHost } {
  let host: SandboxHost;
  beforeAll(async () => {
    host = await provider.open(completeOptions(provider.options, options, provider.name) as Options);
  }, 60_000);
  afterAll(() => host?.close());
  const use: Use = (body) => async () => {
    const sandbox = await host.sandbox();
    try {
      await body(sandbox);
    } finally {
      await sandbox.close();
    }
  };

  test(
    'files, the working folder and variables are there for the next command',
    use(async (sandbox) => {
      const first = await sandbox.run('echo one > a.txt; mkdir -p sub/deep; cd sub; export X="a b" Y=2');
      expect(first).toMatchObject({ exitCode: 0, stdout: '', stderr: '', truncated: false, timedOut: false });
      const next = await sandbox.run('pwd; cat ../a.txt; echo "$X $Y $Z"', { env: { Z: "it's" } });
      expect(next.stdout).toBe("/work/sub\none\na b 2 it's\n");
      expect(next.lost).toBeUndefined();
    }),
  );

  test(
    'the model sees how a command failed, on which stream, and the shell goes on',
    use(async (sandbox) => {
      const failed = await sandbox.run('echo out; echo err >&2; exit 3');
      expect(failed).toMatchObject({ exitCode: 3, stdout: 'out\n', stderr: 'err\n' });
      expect((await sandbox.run('nosuchcommand')).exitCode).toBe(127);
      expect((await sandbox.run('if')).exitCode).toBe(2);
      expect((await sandbox.run('cat', { stdin: 'given\n' })).stdout).toBe('given\n');
      expect((await sandbox.run('cat')).stdout).toBe('');
      expect((await sandbox.run('x'.repeat(100_001))).stderr).toContain('write a file instead');
    }),
  );

  test(
    'bytes are read as they were written, and folders are listed',
    use(async (sandbox) => {
      const bytes = Uint8Array.from({ length: 5000 }, (_, index) => index % 256);
      await sandbox.write('new/folder/data.bin', bytes);
      await sandbox.write("new/it's é.txt", 'é\n');
      expect(await sandbox.read('/work/new/folder/data.bin')).toEqual(bytes);
      expect((await sandbox.run('wc -c < new/folder/data.bin')).stdout.trim()).toBe('5000');
      expect((await sandbox.run(`cat "new/it's é.txt"`)).stdout).toBe('é\n');
      expect(await sandbox.list('new')).toEqual([
        { name: 'folder', type: 'folder', size: 0 },
        { name: "it's é.txt", type: 'file', size: 3 },
      ]);
      const code = 'usage.sandbox_file';
      await expect(sandbox.read('none.txt')).rejects.toMatchObject({ code });
      await expect(sandbox.read('new')).rejects.toMatchObject({ code });
      await expect(sandbox.list('none')).rejects.toMatchObject({ code });
      await expect(sandbox.list("new/it's é.txt")).rejects.toMatchObject({ code });
      await expect(sandbox.write('new', 'x')).rejects.toMatchObject({ code });
    }),
  );

  test(
    'a command that runs too long is a result, and files stay',
    use(async (sandbox) => {
      await sandbox.run('echo kept > kept.txt');
      for (const endless of ['while true; do :; done', 'sleep 100']) {
        const result = await sandbox.run(endless, { timeout: 300 });
        expect(result).toMatchObject({ exitCode: 124, timedOut: true });
      }
      expect((await sandbox.run('cat kept.txt')).stdout).toBe('kept\n');
    }),
  );

  test(
    'output is bounded, and its writer does not fill the memory',
    use(async (sandbox) => {
      const result = await sandbox.run('echo error >&2; seq 1 20000', { limits: { output: 1000 } });
      expect(result).toMatchObject({ truncated: true, stderr: 'error\n' });
      expect(result.stdout).toHaveLength(1000);
      expect(result.stdout.startsWith('1\n2\n3\n')).toBe(true);
      const before = process.memoryUsage().rss;
      const endless = await sandbox.run('yes', { timeout: 3000 });
      expect(endless.exitCode).not.toBe(0);
      expect(process.memoryUsage().rss - before).toBeLessThan(300e6);
      expect((await sandbox.run('echo on')).stdout).toBe('on\n');
    }),
    20_000,
  );

  test(
    'an aborted command is thrown, and the sandbox goes on',
    use(async (sandbox) => {
      await sandbox.run('echo kept > kept.txt');
      const controller = new AbortController();
      const run = sandbox.run('sleep 100', { signal: controller.signal });
      setTimeout(() => controller.abort(new Error('given up')), 100);
      await expect(run).rejects.toThrow('given up');
      expect((await sandbox.run('cat kept.txt')).stdout).toBe('kept\n');
    }),
  );

  test('a sandbox that is closed in the middle of a command ends it with an infrastructure error', async () => {
    const sandbox = await host.sandbox();
    const run = sandbox.run('sleep 100', { timeout: 60_000 });
    setTimeout(() => void sandbox.close(), 300);
    const started = performance.now();
    await expect(run).rejects.toMatchObject({ code: expect.stringMatching(/^infrastructure\./) });
    expect(performance.now() - started).toBeLessThan(5_000);
  });

  test('two sandboxes share no files, and a closed one answers nothing', async () => {
    const [one, other] = await Promise.all([host.sandbox(), host.sandbox()]);
    await one.run('echo secret > /tmp/secret; echo secret > secret');
    expect((await other.run('cat secret /tmp/secret')).stdout).toBe('');
    await Promise.all([one.close(), one.close(), other.close()]);
    await expect(one.run('true')).rejects.toMatchObject({ code: 'infrastructure.sandbox' });
    await expect(one.read('secret')).rejects.toMatchObject({ code: 'infrastructure.sandbox' });
  });

  test(
    'no file and no variable of the machine is seen',
    use(async (sandbox) => {
      await sandbox.run('ln -s ../../../../../../../../etc/hostname link; ln -s /etc/shadow shadow');
      const { stdout } = await sandbox.run(
        'cat link shadow /etc/shadow /proc/self/root/etc/shadow /proc/1/environ /proc/self/environ ../../../../root/.npmrc; env',
      );
      const shells = ['TERM', 'HOME', 'LANG', 'PATH', 'PWD', 'SHLVL', '_', 'OLDPWD'];
      for (const [name, value] of Object.entries(process.env)) {
        if (!shells.includes(name)) expect(stdout).not.toContain(`${name}=${value}`);
      }
      expect(stdout).not.toContain('root:');
    }),
  );

  return { use, host: () => host };
}
