/** `--precision auto` on libtorch: the choice is shown, recorded, and kept by a resumed run. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { hasLibtorch } from '../../libtorch/process-test/has-libtorch.ts';
import { startCli } from '../test/start-cli.ts';

const checkpoint = join(import.meta.dirname, '../../checkpoints/tiny');

test.runIf(hasLibtorch)('measures once', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'toolenv-precision-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const out = join(folder, 'run');
  const train = (steps: number, ...more: string[]) =>
    startCli([
      ...['train', '@toolenv/envs-classic/arithmetic-v1', '--policy', checkpoint, '--out', out],
      ...['--runtime', 'libtorch', '--precision', 'auto', '--tasks-per-step', '2', '--group-size', '2'],
      ...['--steps', String(steps), '--max-tokens', '8', '--no-trajectories', ...more],
    ]).finished;
  const first = await train(1);
  expect(first).toMatchObject({ code: 0 });
  const notice =
    /precision auto is (float32|bfloat16): a matrix product takes .* ms in bfloat16 and .* ms in float32\./;
  const precision = notice.exec(first.stderr)?.[1];
  const file = join(out, 'config.json');
  const config = JSON.parse(await readFile(file, 'utf8'));
  expect(config.policyChoices).toEqual({ precision });

  // What was recorded counts, whatever this machine measures now.
  const other = precision === 'float32' ? 'bfloat16' : 'float32';
  await writeFile(file, JSON.stringify({ ...config, policyChoices: { precision: other } }));
  const resumed = await train(2, '--resume');
  expect(resumed).toMatchObject({ code: 0 });
  expect(resumed.stderr).not.toMatch(notice);
  expect(JSON.parse(await readFile(file, 'utf8')).policyChoices).toEqual({ precision: other });
});
