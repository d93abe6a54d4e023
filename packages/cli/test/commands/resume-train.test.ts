/** A resumed run takes from config.json what it is not told, and the folder of a run is no policy. */
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { resumedWords } from '../../src/commands/resumed-words.ts';
import { fixture } from '../fixture.ts';
import { runCli } from '../run-cli.ts';

let folder: string;
let out: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'toolenv-resume-'));
  out = join(folder, 'run');
  const plugins = [fixture.env, '--policy', fixture.policy, '--trainer', fixture.trainer];
  const options = ['--size', '7', '--weight', '0.5', '--average', 'sequence', '--seed', '9'];
  const first = await runCli('train', ...plugins, ...options, '--steps', '2', '--out', out);
  expect(first).toMatchObject({ code: 0 });
});
afterAll(() => rm(folder, { recursive: true }));

const config = async () => JSON.parse(await readFile(join(out, 'config.json'), 'utf8'));

test('the folder is enough, and a flag goes before what is recorded', async () => {
  const before = await config();
  const again = await runCli('train', '--out', out, '--resume');
  expect(again).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('Nothing to do: the run has its 2 steps'),
  });
  const more = await runCli('train', '--resume', `--out=${out}`, '--steps', '3');
  expect(more).toMatchObject({ code: 0, stdout: expect.stringContaining('3 steps done.') });
  expect(await config()).toEqual({ ...before, trainerOptions: { ...before.trainerOptions, steps: 3 } });
  expect(before).toMatchObject({
    ...{ env: fixture.env, policy: fixture.policy, trainer: fixture.trainer, seed: 9 },
    ...{ envOptions: { size: 7 }, policyOptions: { weight: 0.5 } },
    trainerOptions: { average: 'sequence', steps: 2 },
  });
});

test('an environment after the flags is the environment, and is not mixed with what is recorded', async () => {
  const same = await runCli('train', '--out', out, '--resume', 'lamp');
  expect(same).toMatchObject({ code: 0, stdout: expect.stringContaining('Nothing to do') });
  const other = await runCli('train', '--resume', '--out', out, '@toolenv/envs-qa/bridge-v1');
  expect(other.code).toBe(2);
  expect(other.stderr).toContain(`differs: env "${fixture.env}" → "@toolenv/envs-qa/bridge-v1", envOptions.`);
});

test('the value of an option is no environment, though it is a file', async () => {
  const recorded = { env: '@toolenv/envs-qa/hotpotqa-v1', policy: 'random', seed: 3 };
  const trainer = '@toolenv/trainer-grpo/grpo-v1';
  const other = join(folder, 'other');
  await mkdir(other);
  await writeFile(join(other, 'config.json'), JSON.stringify({ ...recorded, trainer }));
  const words = ['--resume', '--out', other, '--path', join(out, 'config.json')];
  const flags = ['--policy', 'random', '--trainer', trainer, '--seed', '3'];
  expect(await resumedWords(words)).toEqual([recorded.env, ...words, ...flags]);
});

test('what is said otherwise is refused as before', async () => {
  const { code, stderr } = await runCli(
    'train',
    '--out',
    out,
    '--resume',
    '--average',
    'token',
    '--size',
    '8',
  );
  expect(code).toBe(2);
  expect(stderr).toMatch(/differs: envOptions\.size 7 → 8, trainerOptions\.average "sequence" → "token"\./);
});

test('a run that is not to be resumed is told what to do, whatever its folder has', async () => {
  const { code, stderr } = await runCli('train', '--out', out);
  expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringMatching(/--policy/) });
});

test('the folder of a run in place of a policy names the policy', async () => {
  expect(await runCli('eval', fixture.env, '--policy', out)).toMatchObject({
    code: 2,
    stderr: `toolenv: ${out} is a run: use ${join(out, 'policy')}.\n`,
  });
});
