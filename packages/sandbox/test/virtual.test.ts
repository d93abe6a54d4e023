/** The shell in JavaScript. */
import { expect, test } from 'vitest';
import virtual from '../src/virtual/virtual-v1.ts';
import { providerCases } from './provider-cases.ts';

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
