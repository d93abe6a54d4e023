/** The folder of an evaluation whose options have a key. */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { registerSecret } from '@toolenv/core/secrets';
import { expect, it, onTestFinished } from 'vitest';
import { EvaluationFolder } from '../../src/run/evaluation-folder.ts';

it('keeps no key, and resumes all the same', async () => {
  const out = await mkdtemp(join(tmpdir(), 'toolenv-evaluation-'));
  onTestFinished(() => rm(out, { recursive: true }));
  const key = registerSecret('sk-of-an-evaluation');
  const identity = { env: 'e', envOptions: { header: [`Authorization: Bearer ${key}`] } };
  await EvaluationFolder.open(out, identity);
  const kept = await readFile(join(out, 'evaluation.json'), 'utf8');
  expect(JSON.parse(kept)).toEqual({
    env: 'e',
    envOptions: { header: ['Authorization: Bearer [redacted]'] },
  });
  expect((await EvaluationFolder.open(out, identity)).finished).toEqual([]);
  const other = { ...identity, env: 'f' };
  await expect(EvaluationFolder.open(out, other)).rejects.toMatchObject({ code: 'usage.other_evaluation' });
});
