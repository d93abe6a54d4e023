/** The gates of `toolenv eval`: --fail-below, --against and --junit. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findRecordedRun } from '@toolenv/view/recorded';
import { expect, it, onTestFinished } from 'vitest';
import { fixture } from '../fixture.ts';
import { runCli } from '../run-cli.ts';

const [good, bad] = ['fixture-plugin/weight-v1', 'fixture-plugin/idle-v1'] as const;
const play = (policy: string, ...flags: string[]) =>
  runCli('eval', fixture.env, '--policy', policy, '--count', '12', ...flags);

async function scratch(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'toolenv-gates-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
}

it('--fail-below exits with 1, and lists the tasks below the bound', async () => {
  const passed = await play(good, '--weight', '1', '--fail-below', 'em=.8', 'reward=.1');
  expect(passed.stderr).toMatch(
    /^passed {2}em is 1\.000 \(95 % interval .*\), and must be at least 0\.8\.$/m,
  );
  expect(passed.stderr).toMatch(/^passed {2}reward is /m);
  expect(passed.code).toBe(0);
  const failed = await play(bad, '--count', '30', '--fail-below', 'em=.8');
  expect(failed.stderr).toMatch(/^FAILED {2}em is 0\.333 .*, and must be at least 0\.8\.$/m);
  expect(failed.stderr).toContain('20 of 30 tasks are beyond it:\n  task 1: 0.000  Press 1 times.');
  expect(failed.stderr).toContain('\n  and 10 more\n');
  expect(failed.code).toBe(1);
});

it('--against takes what --json printed and what --out has, and fails only where the scores fell', async () => {
  const folder = await scratch();
  const [file, out] = [join(folder, 'last.json'), join(folder, 'out')];
  const { stdout } = await play(good, '--weight', '1', '--json', '--out', out);
  await writeFile(file, stdout);
  for (const baseline of [file, out, join(out, 'summary.json')]) {
    const same = await play(good, '--weight', '1', '--against', baseline);
    expect(same.stderr).toMatch(
      /^passed {2}em is 1\.000 over 12 tasks, and that of the baseline is 1\.000: a difference of \+0\.000 \(99 % interval /m,
    );
    expect(same.code).toBe(0);
    const worse = await play(bad, '--against', baseline);
    expect(worse.stderr).toMatch(
      /^FAILED {2}em is 0\.333 .*: a difference of −0\.667 \(99 % interval −1\.000 to −0\.\d{3}\)\. The/m,
    );
    expect(worse.stderr).toContain('8 of 12 tasks scored less:\n  task 1: 1.000 → 0.000  Press 1 times.');
    expect(worse.code).toBe(1);
    expect((await play(bad, '--against', baseline, '--margin', '1')).code).toBe(0);
  }
  const kept = await play(bad, '--against', file, '--out', join(folder, 'kept'));
  expect(kept.stderr).toContain(`Transcripts: ${join(folder, 'kept/trajectories.jsonl')}\n`);
  await writeFile(file, (await play(bad, '--json')).stdout);
  expect((await play(good, '--weight', '1', '--against', file)).code).toBe(0);
});

it('what shows a run leaves the scores of single tasks to its episodes', async () => {
  const out = join(await scratch(), 'out');
  await play(good, '--out', out);
  const { facts } = findRecordedRun(out);
  expect(facts).toMatchObject({ policy: good, episodes: 12 });
  expect(facts).not.toHaveProperty('tasks');
});

it('both judge each of several policies', async () => {
  const { code, stderr } = await play(good, '--weight', '1', '--policy', bad, '--fail-below', 'em=.5');
  expect(stderr.match(/^(passed|FAILED) {2}em is/gm)).toEqual(['passed  em is', 'FAILED  em is']);
  expect(code).toBe(1);
});

it('--junit writes the gates and the tasks, and only gates fail', async () => {
  const file = join(await scratch(), 'junit.xml');
  const { code } = await play(bad, '--fail-below', 'em=.8', 'reward=-9', '--junit', file);
  expect(code).toBe(1);
  const lines = (await readFile(file, 'utf8')).split('\n');
  expect(lines.slice(0, 3)).toEqual([
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<testsuites tests="14" failures="1" errors="0" skipped="0">',
    `  <testsuite name="${fixture.env}, ${bad}" tests="14" failures="1" errors="0" skipped="0">`,
  ]);
  expect(lines[3]).toMatch(/name="em is at least 0\.8"><failure message="em is 0\.333 \(95 % interval /);
  expect(lines.find((line) => line.includes('name="task 0: '))).toContain('<system-out>reward ');
});

it.each([
  [['--fail-below', 'em'], /--fail-below em: write it as metric=score, such as em=\.8/],
  [['--fail-below', 'em=high'], /write it as metric=score/],
  [['--fail-below', 'emm=.8'], /There is no metric "emm"\. Did you mean "em"\?/],
  [
    ['--against', 'absent.json'],
    /absent\.json does not exist: give a file that "toolenv eval --json" printed/,
  ],
  [['--against', 'package.json'], /package\.json has no scores of tasks/],
  [['--confidence', '1'], /--confidence/],
])('refuses %j before it plays', async (flags, message) => {
  const { code, stderr } = await play(good, ...flags);
  expect(stderr).toMatch(message);
  expect(stderr).not.toContain('episodes');
  expect(code).toBe(2);
});

it('refuses a baseline with other tasks, or with too few', async () => {
  const file = join(await scratch(), 'last.json');
  const last = JSON.parse((await play(good, '--json')).stdout);
  last.tasks[3].digest = 'another';
  await writeFile(file, JSON.stringify(last));
  const other = await play(good, '--against', file);
  expect(other.stderr).toMatch(/Task 3 is another task than in the baseline: play with the split, the seed/);
  expect(other.code).toBe(2);
  await writeFile(file, (await play(good, '--json')).stdout);
  const few = await play(good, '--count', '7', '--against', file);
  expect(few.stderr).toContain('too few for a confidence of 0.99: play at least 8.');
  expect(few.code).toBe(2);
});
