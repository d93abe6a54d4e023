/** `--loss` and `--advantage` take a name, a reference or a file; the options of what they name are flags. */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runCliIn } from '../../cli/test/run-cli.ts';

const root = join(import.meta.dirname, '..', '..', '..');
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'grpo-cli-'));
});
afterAll(() => rm(folder, { recursive: true }));

const toolenv = (...args: string[]) => runCliIn(root, ...args);

const small = ['--policy', 'packages/checkpoints/tiny', '--tasks-per-step', '2', '--group-size', '2'];
function train(out: string, ...more: string[]) {
  const env = '@toolenv/envs-qa/bridge-v1';
  return toolenv('train', env, ...small, '--max-tokens', '16', '--out', join(folder, out), ...more);
}

test('a loss in a file and an estimator of a plugin train, are recorded, and a resumed run must have them', async () => {
  const loss = ['--loss', 'examples/own-loss.ts', '--width', '0.3', '--zero-variance', 'keep'];
  const advantage = ['--advantage', '@toolenv/trainer-grpo/anchor-state-v1', '--turn-gamma', '0.9'];
  const first = await train('own', ...loss, ...advantage, '--steps', '1');
  expect(first.stderr).not.toContain('Error');
  expect(first.code).toBe(0);
  const config = JSON.parse(await readFile(join(folder, 'own', 'config.json'), 'utf8'));
  expect(config.trainer).toBe('@toolenv/trainer-grpo/grpo-v1');
  expect(config.trainerOptions).toMatchObject({
    ...{ loss: 'spo', width: 0.3 },
    ...{ advantage: '@toolenv/trainer-grpo/anchor-state-v1', turnGamma: 0.9, turnWeight: 1 },
  });
  const other = await train('own', ...advantage, '--zero-variance', 'keep', '--steps', '2', '--resume');
  expect(other.code).toBe(2);
  expect(other.stderr).toContain('loss');
  const resumed = await train('own', ...loss, ...advantage, '--steps', '2', '--resume', '--json');
  expect(resumed.code).toBe(0);
  expect(JSON.parse(resumed.stdout.split('\n')[0]!)).toMatchObject({ type: 'rollout', step: 2 });
});

test('a file that is something else, and an unknown name, are one line', async () => {
  const wrong = await train('wrong', '--loss', 'examples/own-advantage.ts');
  expect(wrong.code).toBe(2);
  expect(wrong.stderr).toContain('The default export of examples/own-advantage.ts is not a loss.');
  const unknown = await train('wrong', '--loss', 'dapoo');
  expect(unknown.code).toBe(2);
  expect(unknown.stderr).toMatch(/--loss dapoo: give grpo, bnpo.* or the reference or file of another\./);
});

test('help shows the options of the loss in a file', async () => {
  const { stdout } = await toolenv('train', '--loss', 'examples/own-loss.ts', '--help', '--all');
  expect(stdout).toContain('--width <x>');
});

test('check trains in bandits with a loss and with estimators, also one that needs a critic', async () => {
  const { code, stdout } = await toolenv('check', 'examples/own-loss.ts');
  expect(stdout).toContain('own-loss.ts  10 rules hold');
  expect(code).toBe(0);
  expect((await toolenv('check', 'examples/own-advantage.ts')).stdout).toContain('10 rules hold');
  expect((await toolenv('check', 'examples/critic-advantage.ts')).stdout).toContain('10 rules hold');
});
