/** What counts as a difference between two versions of a run's config.json. */
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { registerSecret } from '@toolenv/core/secrets';
import { expect, onTestFinished, test } from 'vitest';
import { differences, valuesOf } from '../../src/run-folder/run-differences.ts';

test('a value that was kept without its secret is the same, whether the secret is known yet or not', () => {
  const before = { 'envOptions.header': 'Bearer [redacted]', 'envOptions.key': '[redacted]' };
  for (const key of ['sk-that-nobody-knows', registerSecret('sk-that-is-known')]) {
    const now = valuesOf({ envOptions: { header: `Bearer ${key}`, key } });
    expect(differences(before, now)).toEqual({});
  }
  expect(differences(before, { ...before, 'envOptions.header': 'Basic x' })).toEqual({
    'envOptions.header': { from: 'Bearer [redacted]', to: 'Basic x' },
  });
});

test('other spellings of a path are the same value; other files, and texts that name none, are not', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'spellings-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const [data, link, other] = ['data.jsonl', 'link', 'other.jsonl'].map((name) => join(folder, name));
  for (const file of [data!, other!]) await writeFile(file, '');
  await symlink(folder, link!);
  const config = (policy: string, file: string) =>
    valuesOf({ policy, policyOptions: { checkpoint: policy }, trainerOptions: { data: [file] } });
  const before = config(folder, data!);
  const here = relative(process.cwd(), folder);
  for (const policy of [`${folder}/`, `${folder}/.`, here, `./${here}/`, link!])
    expect(differences(before, config(policy, join(policy, 'data.jsonl')))).toEqual({});
  expect(differences(before, config(folder, other!))).toEqual({
    'trainerOptions.data': { from: [data], to: [other] },
  });
  for (const [from, to] of [
    ['.', ''],
    ['no/such', './no/such'],
    ['a'.repeat(5000), 'b'.repeat(5000)],
  ])
    expect(differences({ name: from }, { name: to })).toEqual({ name: { from, to } });
});
