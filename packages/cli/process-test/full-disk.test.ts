/** A full disk and a read-only folder are one line and exit code 1, whatever was to be written, and what was there stays. */
import { spawnSync } from 'node:child_process';
import { closeSync, openSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { withoutTimes } from '../../training/test/timeless.ts';
import { fixture } from '../test/fixture.ts';
import { runCli } from '../test/run-cli.ts';
import { canMount, SmallDisk } from '../test/small-disk.ts';
import { cli, startCli } from '../test/start-cli.ts';

const play = ['--policy', fixture.policy, '--weight', '1'];
const steps = 24;
/** An environment whose tools can be recorded. */
const searching = '@toolenv/envs-qa/lookup-v1';
const server = join(import.meta.dirname, '../../mcp/test/bad-server.js');

function train(out: string, ...more: string[]): string[] {
  const fixed = ['--trainer', fixture.trainer, '--steps', String(steps), '--checkpoint-every', '2'];
  return ['train', fixture.env, ...play, ...fixed, '--out', out, ...more];
}

function smallDisk(kilobytes: number): SmallDisk {
  const disk = new SmallDisk(kilobytes);
  onTestFinished(() => disk.remove());
  return disk;
}

/** The last line of stderr, after those of the progress bar. */
function lastLine(stderr: string): string {
  expect(stderr).not.toMatch(/^\s+at /m);
  return stderr.trimEnd().split('\n').at(-1)!;
}

const full = /^toolenv: .+ cannot be written \(.*ENOSPC.*\): make room.*\.$/;
const readOnly = /^toolenv: .+ cannot be written \(.*EROFS.*\): choose a folder that can be written\.$/;

/** The files of a run whose contents do not depend on time. */
function contents(out: string): Record<string, string> {
  const text = (file: string) => withoutTimes(readFileSync(join(out, file), 'utf8'));
  return Object.fromEntries(
    ['metrics.jsonl', 'trajectories.jsonl', 'policy/config.json'].map((file) => [file, text(file)]),
  );
}

// Mounting needs root; without it, the tests of the packages fill single files through /dev/full.
describe.runIf(canMount())('on a small disk (skipped without the right to mount one)', () => {
  it('a run that fills the disk goes on when there is room, as if nothing had happened', async () => {
    const ample = smallDisk(9000);
    const whole = join(ample.folder, 'run');
    expect((await runCli(...train(whole, '--tensorboard'))).code).toBe(0);
    // The smallest disk takes no config.json; the others are filled by other files, later and later.
    const ended: string[] = [];
    for (const kilobytes of [4, 40, 100]) {
      const disk = smallDisk(kilobytes);
      const out = join(disk.folder, 'run');
      const { code, stderr } = await runCli(...train(out, '--tensorboard'));
      const line = lastLine(stderr);
      expect(line).toMatch(full);
      expect(code).toBe(1);
      ended.push(/run\S*/.exec(line)![0]);
      expect(readdirSync(out).filter((name) => /^lock-|partial$/.test(name))).toEqual([]);
      disk.remount('size=9000k');
      const resumed = await runCli(...train(out, '--tensorboard', '--resume'));
      expect({ code: resumed.code, ...contents(out) }).toEqual({ code: 0, ...contents(whole) });
    }
    expect(new Set(ended).size).toBeGreaterThan(1);
  });

  it('a read-only folder ends train, resume, eval and init', async () => {
    const disk = smallDisk(9000);
    const out = join(disk.folder, 'run');
    expect((await runCli(...train(out))).code).toBe(0);
    const before = readdirSync(disk.folder, { recursive: true }).sort();
    disk.remount('ro');
    const fresh = join(disk.folder, 'new');
    const commands = [
      train(fresh),
      train(out, '--resume', '--steps', '30'),
      ['eval', fixture.env, ...play, '--count', '2', '--out', fresh],
      ['eval', searching, ...play, '--count', '2', '--record', join(disk.folder, 'calls.jsonl')],
      ['init', fresh, '--mcp', `${process.execPath} ${server}`],
    ];
    for (const command of commands) {
      const { code, stderr } = await runCli(...command);
      expect(lastLine(stderr)).toMatch(readOnly);
      expect(code).toBe(1);
    }
    expect(readdirSync(disk.folder, { recursive: true }).sort()).toEqual(before);
  });

  it('a full disk ends eval, its recording and init, and leaves no half package', async () => {
    const disk = smallDisk(64);
    writeFileSync(join(disk.folder, 'filler'), Buffer.alloc(52 * 1024));
    const out = join(disk.folder, 'eval');
    const episodes = await runCli('eval', fixture.env, ...play, '--out', out);
    expect(lastLine(episodes.stderr)).toMatch(full);
    expect(episodes.stderr).toContain(`${join(out, 'trajectories.jsonl')} cannot be written`);
    expect(episodes.code).toBe(1);
    expect(readdirSync(out)).toEqual(['evaluation.json', 'trajectories.jsonl']);

    const calls = join(disk.folder, 'calls.jsonl');
    const recording = await runCli('eval', searching, ...play, '--count', '2', '--record', calls);
    expect(lastLine(recording.stderr)).toMatch(full);
    expect(recording).toMatchObject({ code: 1, stdout: '' });

    const folder = join(disk.folder, 'package');
    const init = await runCli('init', folder, '--mcp', `${process.execPath} ${server}`);
    expect(lastLine(init.stderr)).toMatch(full);
    expect(init.code).toBe(1);
    expect(readdirSync(folder)).toEqual([]);
  });
});

it.runIf(process.platform === 'linux')('a full disk behind stdout is one line and exit code 1', () => {
  for (const args of [['list'], ['eval', fixture.env, ...play, '--json']]) {
    const stdout = openSync('/dev/full', 'w');
    const { status, stderr } = spawnSync(process.execPath, [cli, ...args], {
      cwd: fixture.folder,
      stdio: ['ignore', stdout, 'pipe'],
      encoding: 'utf8',
    });
    closeSync(stdout);
    expect(lastLine(stderr)).toBe(
      'toolenv: Standard output cannot be written (ENOSPC: no space left on device, write): make room on the disk.',
    );
    expect(status).toBe(1);
  }
});

/** A file that may not grow beyond 16 KB stands for a full disk, which only root can make. */
describe.runIf(process.platform !== 'win32')('a file that may grow no more', () => {
  const many = ['--steps', '400', '--no-trajectories'];
  const evaluated = ['eval', fixture.env, ...play, '--size', '400', '--count', '400'];
  it.each<[string, (out: string) => string[]]>([
    ['the episodes of training', (out) => train(out, '--steps', '400')],
    ['the metrics of training', (out) => train(out, ...many)],
    ['the metrics for TensorBoard', (out) => train(out, ...many, '--tensorboard')],
    ['the episodes of an evaluation', (out) => [...evaluated, '--out', out]],
  ])('has no room for %s: one line and exit code 1', async (_, args) => {
    const folder = await mkdtemp(join(tmpdir(), 'toolenv-ulimit-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    const command = [
      '-c',
      'ulimit -f 16; exec "$@"',
      'bash',
      process.execPath,
      cli,
      ...args(join(folder, 'run')),
    ];
    const { status, stderr } = spawnSync('bash', command, { cwd: fixture.folder, encoding: 'utf8' });
    expect(lastLine(stderr)).toMatch(/^toolenv: .+ cannot be written \(EFBIG.*\): /);
    expect(stderr.match(/^toolenv:/gm)).toHaveLength(1);
    expect(status).toBe(1);
  });

  it('has no room for a report: the earlier report stays', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'toolenv-ulimit-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    writeFileSync(join(folder, 'metrics.jsonl'), '');
    const report = join(folder, 'report.html');
    writeFileSync(report, '<!doctype html> an earlier report');
    const args = [process.execPath, cli, 'view', folder, '--export', report];
    const command = ['-c', 'ulimit -f 64; exec "$@"', 'bash', ...args];
    const { status, stderr } = spawnSync('bash', command, { cwd: fixture.folder, encoding: 'utf8' });
    expect(lastLine(stderr)).toMatch(/^toolenv: .+ cannot be written \(EFBIG.*\): /);
    expect(status).toBe(1);
    expect(readFileSync(report, 'utf8')).toBe('<!doctype html> an earlier report');
    expect(readdirSync(folder).sort()).toEqual(['metrics.jsonl', 'report.html']);
  });

  it.each([
    ['training', train('/proc/toolenv')],
    ['training, below a file,', train('/dev/null/run')],
    ['an evaluation', [...evaluated, '--out', '/proc/toolenv']],
    ['a recording', ['eval', searching, ...play, '--record', '/proc/toolenv/calls.jsonl']],
  ])('the folder of %s cannot be made: one line', async (_, args) => {
    const { code, stderr } = await startCli(args).finished;
    expect(lastLine(stderr)).toMatch(/^toolenv: .+(written|made|folder|E[A-Z]{4,})/);
    expect(stderr.match(/^toolenv:/gm)).toHaveLength(1);
    expect([1, 2]).toContain(code);
  });
});
