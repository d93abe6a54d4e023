import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import type { RemoteModel } from '../src/remote-model.ts';
import { SharedModel } from '../src/shared-model.ts';

test('a change waits for samples, and later samples see the changed weights', async () => {
  let published = 0;
  const model = { openSampler: async () => `sampler ${++published}` } as RemoteModel;
  const shared = new SharedModel(model);
  const seen: string[] = [];
  let finish: (() => void) | undefined;
  const slow = shared.sample(async (sampler) => {
    await new Promise<void>((resolve) => {
      finish = resolve;
    });
    seen.push(`slow ${sampler}`);
  });
  await vi.waitFor(() => expect(finish).toBeDefined());
  const quick = shared.sample(async (sampler) => seen.push(`quick ${sampler}`));
  await quick;
  const change = shared.change(async () => seen.push('change'));
  const later = shared.sample(async (sampler) => seen.push(`later ${sampler}`));
  await sleep(20);
  expect(seen).toEqual(['quick sampler 1']);
  finish!();
  await Promise.all([slow, change, later]);
  expect(seen).toEqual(['quick sampler 1', 'slow sampler 1', 'change', 'later sampler 2']);
});

test('a change that fails does not hold samples up', async () => {
  const shared = new SharedModel({ openSampler: async () => 'sampler' } as unknown as RemoteModel);
  await expect(shared.change(() => Promise.reject(new Error('no')))).rejects.toThrow('no');
  expect(await shared.sample(async (sampler) => sampler)).toBe('sampler');
});
