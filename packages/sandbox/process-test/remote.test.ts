/** The scripts of remote machines in the shells that machines have, and what a provider says without its client. */
import { spawn, spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { openSandboxes } from '@toolenv/core/plugins';
import { describe, expect, test, vi } from 'vitest';
import {
  type CommandAnswer,
  commandScript,
  killScript,
  type MachineCommand,
  prepareScript,
  readAnswer,
} from '../src/remote/command-script.ts';
import { type DaytonaClient, DaytonaMachines, type DaytonaOptions } from '../src/remote/daytona-machines.ts';

const has = (command: string) => spawnSync('/bin/sh', ['-c', `command -v ${command}`]).status === 0;
const shells = { bash: ['bash'], dash: ['dash'], busybox: ['busybox', 'sh'] };
const found = has('setsid') ? Object.entries(shells).filter(([name]) => has(name)) : [];
const skipped = found.length > 0 ? '' : ' (skipped: setsid is not installed)';

/** What a shell writes to stdout until it is closed by all of its processes. */
function output([shell = '', ...args]: readonly string[], script: string): Promise<string> {
  return new Promise((settle) => {
    const child = spawn(shell, [...args, '-c', script], { stdio: ['ignore', 'pipe', 'ignore'] });
    let text = '';
    child.stdout.on('data', (part) => {
      text += part;
    });
    child.on('close', () => settle(text));
  });
}

describe.skipIf(skipped !== '').each(found.length > 0 ? found : Object.entries(shells))(
  `in %s${skipped}`,
  (_name, shell) => {
    const command = (script: string, rest: Partial<MachineCommand> = {}): MachineCommand => {
      const usual = { stdin: Buffer.alloc(0), timeout: 10_000, output: 1000, wasted: 64_000 };
      return { id: randomUUID(), script, ...usual, ...rest };
    };
    const run = async (script: string, rest: Partial<MachineCommand> = {}): Promise<CommandAnswer> => {
      const asked = command(script, rest);
      return readAnswer(asked.id, (await output(shell, commandScript(asked))).trim())!;
    };

    test('the streams, the code and stdin are those of the command', async () => {
      const stdin = Buffer.from([0, 255, 10, 39]);
      const { stdout, stderr, exitCode, timedOut } = await run(`cat; echo "it's" >&2; exit 3`, { stdin });
      expect([...stdout]).toEqual([...stdin]);
      expect([stderr.toString(), exitCode, timedOut]).toEqual(["it's\n", 3, false]);
    });

    test('output is cut, and its writer is killed after 64 times as much', async () => {
      const cut = await run('head -c 5000 /dev/zero; echo on >&2');
      expect([cut.stdout.length, cut.stderr.toString(), cut.exitCode]).toEqual([1001, 'on\n', 0]);
      const endless = await run('yes; echo on >&2');
      expect([endless.stdout.length, endless.stderr.length, endless.exitCode]).toEqual([1001, 0, 137]);
    });

    test('a command ends in its time with all of its processes, or when it is killed', async () => {
      const late = await run('echo begun; sleep 7654 & sleep 7654', { timeout: 1000 });
      expect([late.stdout.toString(), late.exitCode, late.timedOut]).toEqual(['begun\n', 124, true]);
      const asked = command('sleep 7654');
      const running = output(shell, commandScript(asked));
      await output(shell, killScript(asked.id));
      expect(readAnswer(asked.id, (await running).trim())).toMatchObject({ exitCode: 137, timedOut: false });
      expect(spawnSync('ps', ['ax'], { maxBuffer: 2 ** 28 }).stdout.toString()).not.toContain('sleep 7654');
    });

    test('nobody waits for a process in the background', async () => {
      const start = performance.now();
      const { stdout, exitCode } = await run('(sleep 3; echo late) & echo first');
      expect([stdout.toString(), exitCode]).toEqual(['first\n', 0]);
      expect(performance.now() - start).toBeLessThan(2500);
    });

    test('a machine that lacks a program says so', async () => {
      const script = `command() { [ "$2" != mkfifo ]; }\n${prepareScript}`;
      expect(await output(shell, script)).toBe('its image lacks the program mkfifo\n');
    });
  },
);

test('an answer that is cut or of another command is none', () => {
  const whole = 'a-1 0 0\naGkK\n-\nZQ==\na-1';
  expect(readAnswer('a-1', whole)).toMatchObject({ exitCode: 0, stdout: Buffer.from('hi\n') });
  for (const other of [
    '',
    'a-1',
    whole.slice(0, -1),
    whole.slice(2),
    whole.replace('-\n', ''),
    `x${whole}`,
  ]) {
    expect(readAnswer('a-1', other), other).toBeUndefined();
  }
});

test('a provider names the variable of its key and the package of its client', async () => {
  vi.stubEnv('DAYTONA_API_KEY', '');
  vi.stubEnv('E2B_API_KEY', '');
  const open = (name: string) => openSandboxes(`@toolenv/sandbox/${name}`, { from: import.meta.dirname });
  await expect(open('e2b-v1')).rejects.toThrow('e2b-v1 needs a key: set E2B_API_KEY to yours.');
  await expect(open('daytona-v1')).rejects.toThrow('set DAYTONA_API_KEY');
  vi.stubEnv('DAYTONA_API_KEY', 'dtn_of_nobody');
  await expect(open('daytona-v1')).rejects.toMatchObject({
    code: 'usage.missing_package',
    message: 'daytona-v1 needs @daytona/sdk: npm install @daytona/sdk@0.216.0',
  });
});

test('a size of a Daytona machine without an image is refused', () => {
  const sizes = { cpu: 0, memory: 2, disk: 0 };
  const options = { snapshot: '', image: '', url: '', ttl: 60, ...sizes } as DaytonaOptions;
  expect(() => new DaytonaMachines(class {} as unknown as DaytonaClient, 'key', options)).toThrow(
    'give the option image too',
  );
});
