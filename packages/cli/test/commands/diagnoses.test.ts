/** What `train` and `show` say of a run that has nothing to learn. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { diagnosisView } from '../../src/display/diagnosis-view.ts';
import { fixture } from '../fixture.ts';
import { runCli } from '../run-cli.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'toolenv-diagnoses-'));
});
afterAll(() => rm(folder, { recursive: true }));

/** The policy always does what is asked. */
const train = (out: string, ...more: string[]) => {
  const trainer = ['--trainer', 'fixture-plugin/loop-v1', '--group-size', '2', '--steps', '3'];
  return runCli(
    'train',
    fixture.env,
    '--policy',
    fixture.policy,
    '--weight',
    '1',
    ...trainer,
    '--out',
    out,
    ...more,
  );
};

const title =
  'From step 1 on, 100 % of the groups have no variance: 100 % of the episodes succeed, before anything is learned.';

test('the last lines of train, and show, name the fault, the remedy, the page and the episodes', async () => {
  const out = join(folder, 'run');
  const { code, stdout } = await train(out);
  expect(code).toBe(0);
  const expected = [
    `! ${title}`,
    '  Take harder tasks: a curriculum, or --zero-variance resample, which plays other tasks instead.',
    `  toolenv show ${out} --step 1..`,
    '  https://toolenv.github.io/toolenv/recipes/flat-rewards.html#what-helps',
  ].join('\n');
  expect(stdout.endsWith(`\n\n${expected}\n\nLook at the run: toolenv view ${out}\n`)).toBe(true);
  const shown = await runCli('show', out, '--count', '0');
  expect(shown.stdout.endsWith(`\n\n${expected}\n\n`)).toBe(true);
  const episodes = await runCli('show', out, '--step', '1..', '--json');
  expect(episodes.stdout.trim().split('\n')).toHaveLength(3 * 4 * 2);
});

test('train keeps a line for each step on request, and ends with the validation and the command that shows the run', async () => {
  const out = join(folder, "it's kept");
  const { stdout } = await train(
    out,
    '--log-steps',
    '--evaluate-every',
    '2',
    '--evaluate-first',
    '--steps',
    '2',
  );
  const lines = stdout.split('\n');
  expect(lines.slice(0, 4)).toEqual([
    'step 0  validation EM 1.00',
    expect.stringMatching(/^step 1\/2 {2}reward 1\.\d\d {2}EM 1\.00 {2}validation EM 1\.00 {2}/),
    expect.stringMatching(/^step 2\/2 {2}reward/),
    'step 2  validation EM 1.00',
  ]);
  const at = lines.indexOf('Validation  step 0 → step 2');
  expect(lines[at + 1]).toMatch(/^ {2}EM {6}1\.000 \(.*\) → 1\.000 \(.*\) {2}= 0\.000$/);
  expect(lines.slice(at).join('\n')).toMatch(
    /\n\n2 steps done\.\nThe policy is in .*\nLook at the run: toolenv view '.*it'\\''s kept'\n$/,
  );
  // A pipe gets no escape sequences.
  expect(stdout).not.toContain('\u001b');
  const quiet = await train(join(folder, 'quiet'), '--json', '--log-steps', '--steps', '1');
  for (const line of quiet.stdout.trim().split('\n')) JSON.parse(line);
  expect(quiet.stderr).toMatch(/^step 1\/1 {2}reward/m);
});

test('with --json, the diagnoses are the last line, if there are any', async () => {
  const { stdout } = await train(join(folder, 'json'), '--json');
  const last = JSON.parse(stdout.trim().split('\n').at(-1)!);
  expect(last).toMatchObject({
    type: 'diagnoses',
    diagnoses: [
      { name: 'all-right', title, since: 1, evidence: { metric: 'frac_reward_zero_std', value: 1 } },
    ],
  });
  const short = await train(join(folder, 'short'), '--json', '--steps', '2');
  expect(short.stdout).not.toContain('"diagnoses"');
});

test('at most three are printed, and none leaves its lines', () => {
  const diagnosis = {
    name: 'all-right' as const,
    title: 'x\u001b[31m '.repeat(20),
    since: 1,
    remedy: 'Try.',
    page: 'https://a.b',
    evidence: { metric: 'kl', value: 2, threshold: 1 },
  };
  const text = diagnosisView(Array(5).fill(diagnosis), { run: 'run', width: 60 });
  expect(text.match(/^! /gm)).toHaveLength(3);
  expect(text).not.toContain('\u001b[31m');
  expect(Math.max(...text.split('\n').map(({ length }) => length))).toBeLessThanOrEqual(60);
});
