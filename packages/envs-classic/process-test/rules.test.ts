/** Environments follow the rules of the spec for a thousand fuzzed actions. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { assertConforms, checkEnv } from '@toolenv/testing';
import { expect, onTestFinished, test } from 'vitest';
import { writeProblems } from '../../../workshop/datasets/write-problems.ts';
import arithmetic from '../src/arithmetic-v1.ts';
import bank from '../src/bank-v1.ts';
import gsm8k from '../src/gsm8k-v1.ts';
import toolbox from '../src/toolbox-v1.ts';
import wordle from '../src/wordle-v1.ts';

test.each([
  ['arithmetic', arithmetic],
  ['bank', bank],
  ['toolbox', toolbox],
  ['wordle', wordle],
])('%s', async (_, env) => {
  const { skipped } = await assertConforms(checkEnv<never, never>(env as never));
  // They have no tools of others that could fail or hang.
  expect(skipped.map(({ rule }) => rule)).toEqual(['ENV-30', 'ENV-31']);
});

test('gsm8k', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'toolenv-gsm8k-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const { skipped } = await assertConforms(checkEnv(gsm8k, { options: await writeProblems(folder) }));
  expect(skipped.map(({ rule }) => rule)).toEqual(['ENV-30', 'ENV-31']);
});
