/** The plugin: it is found by its references, and uses public interfaces only. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { loadPlugin } from '@toolenv/core/plugins';
import { expect, test } from 'vitest';
import { runCliIn } from '../../cli/test/run-cli.ts';

const root = join(import.meta.dirname, '../../..');

async function toolenv(...args: string[]): Promise<string> {
  const { code, stdout } = await runCliIn(root, ...args);
  expect(code).toBe(0);
  return stdout;
}

test('is found by reference, with the options of its advantage', async () => {
  const trainer = await loadPlugin('trainers', '@toolenv/trainer-grpo/gigpo-v1', { from: root });
  expect(trainer.options).toMatchObject({
    properties: { advantage: { default: 'anchor-state' }, turnWeight: { default: 1 }, clip: {} },
  });
  const part = await loadPlugin('advantages', '@toolenv/trainer-grpo/anchor-state-v1', { from: root });
  expect(part.name).toBe('anchor-state');
});

test('on the command line, the reference of an estimator gives flags of its options', async () => {
  const help = await toolenv(
    'train',
    '--advantage',
    '@toolenv/trainer-grpo/anchor-state-v1',
    '--help',
    '--all',
  );
  expect(help).toContain('--turn-weight <x>');
  expect(await toolenv('train', '--help', '--all')).not.toContain('--turn-weight');
  const listed = JSON.parse(await toolenv('list', '--kind', 'advantages', '--json'));
  expect(listed).toEqual([
    {
      ref: '@toolenv/trainer-grpo/anchor-state-v1',
      kind: 'advantages',
      package: '@toolenv/trainer-grpo',
      version: expect.any(String),
    },
  ]);
  const info = await toolenv('info', '@toolenv/trainer-grpo/anchor-state-v1');
  expect(info).toContain('advantage estimator, version');
  expect(info).toContain('--turn-gamma <x>');
}, 180_000);

test('uses only what packages export', async () => {
  for (const file of ['anchor-state.ts', 'gigpo.ts']) {
    const source = await readFile(join(root, 'packages/trainer-grpo/src', file), 'utf8');
    for (const [, from] of source.matchAll(/from '(.*?)'/g)) {
      expect(from).toMatch(/^(\.\/[\w-]+\.ts|@toolenv\/(core|training))$/);
    }
  }
});

test('the name of a package that does not exist leads to the trainer', async () => {
  await expect(
    loadPlugin('trainers', '@toolenv/trainer-gigpo/gigpo-v1', { from: root }),
  ).rejects.toMatchObject({
    code: 'usage.unknown_plugin',
    message: expect.stringContaining('Did you mean "@toolenv/trainer-grpo/gigpo-v1"?'),
  });
});
