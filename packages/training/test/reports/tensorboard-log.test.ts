import { mkdtemp, readdir, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { TensorBoardLog } from '../../src/reports/tensorboard-log.ts';

it('writes the bytes that TensorBoard itself would write', async () => {
  vi.useFakeTimers({ now: 1_750_000_000_250, toFake: ['Date'] });
  const folder = join(await mkdtemp(join(tmpdir(), 'toolenv-tensorboard-')), 'tensorboard');
  const log = new TensorBoardLog(folder);
  await log.write({
    type: 'rollout',
    step: 3,
    metrics: { reward: 0.5, 'critic/values/mean': 0 },
    trajectories: [],
  });
  await log.write({ type: 'checkpoint', step: 3, folder: 'step-3' });
  await log.write({ type: 'update', step: 300, metrics: { loss: -1.25 } });
  vi.useRealTimers();
  const [file, ...others] = await readdir(folder);
  expect([file, others]).toEqual(['events.out.tfevents.01750000000250.toolenv', []]);
  const golden = await readFile(join(import.meta.dirname, 'golden/events.tfevents'));
  expect(await readFile(join(folder, file!))).toEqual(golden);
});

it('keeps the rewards of evaluations apart from those of rollouts', async () => {
  const folder = join(await mkdtemp(join(tmpdir(), 'toolenv-tensorboard-')), 'tensorboard');
  const log = new TensorBoardLog(folder);
  const metrics = { reward: 0.5, 'rewards/em/mean': 0.25 };
  await log.write({ type: 'rollout', step: 1, metrics, trajectories: [] });
  await log.write({ type: 'evaluation', step: 1, metrics });
  const [file] = await readdir(folder);
  const names = (await readFile(join(folder, file!), 'latin1')).match(
    /(evaluation\/|rollout\/)?reward[\w/]*/g,
  );
  expect(names).toEqual([
    'rollout/reward',
    'rewards/em/mean',
    'evaluation/reward',
    'evaluation/rewards/em/mean',
  ]);
});
