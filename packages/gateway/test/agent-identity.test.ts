/** The code of an agent is part of what a run is known by. */
import { appendFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { openEnv } from '@toolenv/core';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { defineAgentEnv } from '../src/index.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'toolenv-entry-'));
});
afterEach(() => rm(folder, { recursive: true }));

async function identityOf(entry: string | URL | undefined): Promise<unknown> {
  const env = await openEnv(
    defineAgentEnv({
      name: 'agent-v1',
      description: 'An agent.',
      tasks: { test: [1] },
      agent: () => {},
      rewards: { right: { kind: 'outcome' } },
      ...(entry !== undefined && { entry }),
    }),
  );
  await env.close();
  return env.identity;
}

test('another entry or another package.json is another agent', async () => {
  const entry = join(folder, 'agent.ts');
  const manifest = join(folder, 'package.json');
  await writeFile(entry, 'one');
  await writeFile(manifest, '{}');
  const one = await identityOf(pathToFileURL(entry));
  expect(one).toEqual({ agent: { entry: 'agent.ts', sha256: expect.stringMatching(/^[0-9a-f]{64}$/) } });
  expect(await identityOf(pathToFileURL(entry).href)).toEqual(one);
  await appendFile(entry, ' more');
  const other = await identityOf(entry);
  expect(other).not.toEqual(one);
  await writeFile(manifest, '{"version": "2.0.0"}');
  expect(await identityOf(entry)).not.toEqual(other);
});

test('without an entry nothing is added, and an entry that is absent names the remedy', async () => {
  expect(await identityOf(undefined)).toBeUndefined();
  await expect(identityOf(join(folder, 'gone.ts'))).rejects.toThrow('give its file, such as import.meta.url');
});
