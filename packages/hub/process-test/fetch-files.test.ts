/** fetchFiles beside another process, at the moment when the other ends. */
import { mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { claimPartial } from '../src/claimed-partial.ts';
import { fetchFiles } from '../src/fetch-files.ts';
import { StandInHub } from '../test/stand-in-hub.ts';

vi.mock(import('../src/claimed-partial.ts'), { spy: true });

let hub: StandInHub;
let home: string;
beforeEach(async () => {
  hub = await new StandInHub().listen();
  home = await mkdtemp(join(tmpdir(), 'toolenv-fetch-files-'));
  for (const [name, value] of Object.entries(hub.variables(home))) vi.stubEnv(name, value);
});
afterEach(async () => {
  vi.unstubAllEnvs();
  hub.close();
  await rm(home, { recursive: true, force: true });
});

it('a file that another process ends between the look for it and the claim is not fetched again', async () => {
  const weights = Buffer.alloc(1000, 1);
  hub.add('some-user/model', { 'model.safetensors': weights });
  const actual =
    await vi.importActual<typeof import('../src/claimed-partial.ts')>('../src/claimed-partial.ts');
  vi.mocked(claimPartial).mockImplementationOnce(async (blob) => {
    await writeFile(`${blob}.other`, weights);
    await rename(`${blob}.other`, blob);
    return actual.claimPartial(blob);
  });
  const { folder } = await fetchFiles({ type: 'model', name: 'some-user/model', choose: (files) => files });
  expect(hub.parts('storage')).toEqual([]);
  expect(await readdir(folder)).toEqual(['model.safetensors']);
  expect(await readdir(join(home, 'hub/models--some-user--model/blobs'))).toHaveLength(1);
});
