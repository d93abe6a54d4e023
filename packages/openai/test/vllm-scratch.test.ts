import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { processStart } from '@toolenv/core/files';
import { expect, onTestFinished, test, vi } from 'vitest';
import { makeScratch } from '../src/vllm/scratch.ts';

test('the folder of a run that was killed is removed, those of others stay', async () => {
  const parent = await mkdtemp(join(tmpdir(), 'toolenv-'));
  onTestFinished(() => rm(parent, { recursive: true }));
  vi.stubEnv('TMPDIR', parent);
  onTestFinished(() => void vi.unstubAllEnvs());
  const own = processStart(process.pid);
  const { pid: ended } = spawnSync('true');
  const before = own?.replace(/\d+$/, '1') ?? 'unknown';
  const folders = [
    `toolenv-vllm.${ended}.${before}.a`,
    `toolenv-vllm.${process.pid}.${own ?? 'unknown'}.b`,
    `toolenv-vllm.${ended}.0badb007_1_1.c`,
    'toolenv-vllm-old',
  ].map((name) => join(parent, name));
  for (const folder of folders) {
    await mkdir(folder);
    await writeFile(join(folder, 'model.safetensors'), 'weights');
  }
  const made = await makeScratch();
  expect(basename(made)).toMatch(new RegExp(`^toolenv-vllm\\.${process.pid}\\.`));
  // Only Linux says which processes have ended.
  expect(folders.map((folder) => existsSync(folder))).toEqual([own === undefined, true, true, true]);
});
