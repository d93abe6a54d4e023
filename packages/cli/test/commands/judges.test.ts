/** Judges and scorers on the command line: the user names the judge. */
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runCli } from '../run-cli.ts';

const notes = join(import.meta.dirname, '../../../../examples/judged-notes.ts');
const standIn = '@toolenv/judge/stand-in-v1';

test('--judge names the judge of an environment, and the table shows what it was asked', async () => {
  const args = ['eval', notes, '--policy', 'idle', '--split', 'train', '--count', '2'];
  const { code, stdout, stderr } = await runCli(...args, '--judge', standIn);
  expect(stderr).not.toContain('aborted');
  expect(code).toBe(0);
  expect(stdout).toMatch(/clear +0\.000/);
  expect(stdout).toMatch(/asked by tools +2: 0 tokens in and 0 out/);
  const missing = await runCli(...args);
  expect(missing.code).toBe(2);
  expect(missing.stderr).toContain('There is no judge');
  expect(missing.stderr).toContain('--judge');
});

test('--scorer adds the options of the scorer to those of the trainer, beside those of the environment', async () => {
  const scorer = ['--scorer', '@toolenv/judge/ruler-v1'];
  const { stdout } = await runCli('train', notes, '--policy', 'x', ...scorer, '--help', '--all');
  expect(stdout).toContain('--judge-characters');
  expect(stdout).toContain('--env-judge <');
  expect(stdout).toContain('--environment-weight');
  const { stdout: without } = await runCli('train', notes, '--policy', 'x', '--help', '--all');
  expect(without).not.toContain('--judge-characters');
  expect(without).toContain('--scorer <');
});

test('check knows scorers', async () => {
  const { code, stdout } = await runCli('check', '@toolenv/judge/ruler-v1');
  expect(stdout).toContain('6 rules hold');
  expect(code).toBe(0);
});
